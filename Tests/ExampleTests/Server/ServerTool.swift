import Foundation
import Testing
import VerificationSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The built `cloudsync` tool, with a folder of its own that is gone when the test is over.
final class ServerTool: Sendable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-server-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A path in the folder.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Runs the tool to its end.
  func run(
    _ arguments: [String], environment: [String: String] = [:], input: String = "",
    output: FileHandle? = nil
  ) async throws -> BuiltTool.Run {
    try await BuiltTool.run(
      process(arguments, environment), input: Data(input.utf8), output: output)
  }

  /// Runs the tool, expects success, and returns what it printed.
  @discardableResult
  func good(
    _ arguments: String..., environment: [String: String] = [:], input: String = ""
  ) async throws -> String {
    let run = try await run(arguments, environment: environment, input: input)
    #expect(run.code == 0, "\(arguments): \(run.errors)")
    return run.output
  }

  /// Starts the tool and leaves it running.
  func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningTool {
    try RunningTool(process(arguments, environment))
  }

  /// Starts a server, and waits until it is ready.
  func serve(_ options: String...) async throws -> ServedCloud { try await serve(options) }

  /// Starts a server, and waits until it is ready.
  func serve(_ options: [String]) async throws -> ServedCloud {
    try await ready(start(["serve", "--json"] + options))
  }

  /// Starts a server as nohup does, and waits until it is ready.
  func serveWithoutHangup() async throws -> ServedCloud { try await serve(after: "trap '' HUP") }

  /// Starts a server in the place of a shell that ran some commands before, and waits until it is
  /// ready.
  func serve(after commands: String, _ options: String...) async throws -> ServedCloud {
    var process = try process([], [:])
    process.arguments =
      ["-c", "\(commands); exec \"$0\" serve --json \"$@\"", process.program.path] + options
    process.program = URL(fileURLWithPath: "/bin/sh")
    return try await ready(RunningTool(process))
  }

  private func ready(_ tool: RunningTool) async throws -> ServedCloud {
    let ready = try await tool.output.line { $0.contains("\"ready\":true") }
    let object = try JSONSerialization.jsonObject(with: Data(ready.utf8))
    return try ServedCloud(tool, try #require(object as? [String: Any]))
  }

  func process(_ arguments: [String], _ environment: [String: String]) throws -> ToolProcess {
    var process = ToolProcess(
      program: try BuiltTool.program("cloudsync"), arguments: arguments)
    process.environment = ProcessInfo.processInfo.environment
      .filter { !$0.key.hasPrefix("CLOUDSYNC_") }
      .merging(environment) { _, new in new }
    return process
  }
}

/// A server that `serve` started.
struct ServedCloud {
  let tool: RunningTool
  let url: String
  let apiToken: String
  let controlToken: String
  let webAuthTokens: [String: String]

  init(_ tool: RunningTool, _ ready: [String: Any]) throws {
    self.tool = tool
    url = try #require(ready["url"] as? String)
    apiToken = try #require(ready["apiToken"] as? String)
    controlToken = try #require(ready["controlToken"] as? String)
    let accounts = try #require(ready["accounts"] as? [[String: String]])
    webAuthTokens = Dictionary(
      accounts.map { ($0["account"] ?? "", $0["webAuthToken"] ?? "") },
      uniquingKeysWith: { first, _ in first })
  }

  /// What tells another command where the server is.
  var environment: [String: String] {
    ["CLOUDSYNC_SERVER": url, "CLOUDSYNC_CONTROL_TOKEN": controlToken]
  }

  /// Saves a record of the account, as an app in a browser would.
  ///
  /// - Returns: The status of the answer.
  @discardableResult
  func save(
    _ name: String, account: String = "default", operation: String = "create",
    title: String = "Milk"
  ) async throws -> Int {
    let record: [String: Any] = [
      "recordType": "Note", "recordName": name, "fields": ["title": ["value": title]],
    ]
    let body = try JSONSerialization.data(
      withJSONObject: ["operations": [["operationType": operation, "record": record]]])
    return try await post("records/modify", body, account: account).status
  }

  /// Sends a request of the account to its database, as an app in a browser would.
  func post(
    _ path: String, _ body: Data, database: String = "private", account: String = "default",
    webAuthToken: String? = nil
  ) async throws -> (status: Int, text: String) {
    let token = try #require(webAuthToken ?? webAuthTokens[account])
    let path = "/database/1/iCloud.test/development/\(database)/\(path)"
    let url = try #require(
      URL(string: "\(url)\(path)?ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)"))
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = body
    let (answer, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    return (status, String(decoding: answer, as: UTF8.self))
  }

  /// Stops the server and returns its exit code.
  func stop(_ signal: CInt = SIGTERM) async -> CInt {
    tool.send(signal)
    return await tool.exitCode()
  }
}
