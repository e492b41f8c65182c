import CloudSync
import CommandLineKit
import Foundation
import WebServices

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Servers that run in the background: `serve --detach`, `wait` and `stop`.
enum Detached {
  /// The time between two looks at a server.
  private static let pause = Duration.milliseconds(50)

  /// Starts a server as a process of its own, and returns when it is ready.
  ///
  /// Its messages go to the null device; a failure at the start is printed.
  ///
  /// - Parameter warning: what is printed when it is ready, as `serve` prints it.
  static func start(
    _ arguments: [String], warning: String?, _ output: Output
  ) async throws -> CInt {
    guard let program = Bundle.main.executableURL else {
      throw ToolError("cannot find this program's own file")
    }
    let process = Process()
    process.executableURL = program
    process.arguments = ["serve"] + arguments + (output.isJSON ? ["--json"] : [])
    process.standardInput = FileHandle.nullDevice
    let (ready, problems) = (Pipe(), Pipe())
    process.standardOutput = ready
    process.standardError = problems
    // The server goes on when the terminal closes.
    signal(SIGHUP, SIG_IGN)
    try process.run()
    var text = Data()
    // The JSON is one line, and the text ends with a line of its own.
    let end = Data((output.isJSON ? "\n" : "\nready\n").utf8)
    while text.suffix(end.count) != end {
      let data = ready.fileHandleForReading.availableData
      guard !data.isEmpty else { return try failure(of: process, problems) }
      text += data
    }
    if let warning { output.note(warning) }
    let lines = String(decoding: text, as: UTF8.self)
    Output.write(lines)
    if !output.isJSON {
      let url = lines.firstMatch(of: /(?m)^server +(\S+)$/).map { String($0.output.1) }
      Output.write(
        "process \(process.processIdentifier); with its control token in \(Variable.controlToken), "
          + "this stops it: cloudsync stop --server \(url ?? "URL")\n")
    }
    return 0
  }

  /// Prints why a server did not start.
  private static func failure(of process: Process, _ problems: Pipe) throws -> CInt {
    let reason = try problems.fileHandleForReading.readToEnd() ?? Data()
    Output.writeError(String(decoding: reason, as: UTF8.self))
    process.waitUntilExit()
    return process.terminationStatus == 0 ? ExitCode.failure : process.terminationStatus
  }

  /// Waits until a server is ready.
  static func wait(for url: URL, seconds: Int) async throws {
    try await look(
      at: url, seconds: seconds, until: { $0 == 200 },
      otherwise: "no server was ready at \(printable(url.absoluteString)) within \(seconds) s")
  }

  /// Stops a server, and waits until it is gone: a server of this machine, until its process has
  /// ended, which writes the file of `--export-on-exit` after it has stopped listening.
  static func stop(_ address: Address, seconds: Int, _ output: Output) async throws {
    guard case .server(let url, _) = address else { return }
    // The response comes after the server has written the file of `--export-on-exit` once.
    let control = try address.open(timeout: seconds)
    defer { control.close() }
    let reply = try await control.json(.post("stop", .members([:])))
    let process = reply["process"]?.integer.flatMap { pid_t(exactly: $0) }
    try await look(
      at: url, seconds: seconds, until: { $0 == nil && !(process.map(runsServer) ?? false) },
      otherwise: "the server is still running after \(seconds) s; its requests go on")
    try output.result(["stopped": url.absoluteString], "stopped")
  }

  /// Whether a process of this machine runs this program: a server elsewhere, as in a container,
  /// has a number that means another process here, or none.
  private static func runsServer(_ process: pid_t) -> Bool {
    guard process > 0, kill(process, 0) == 0 else { return false }
    #if os(Linux)
      let program = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(process)/exe")
      return program == Bundle.main.executableURL?.resolvingSymlinksInPath().path
    #else
      return true
    #endif
  }

  /// Asks for the status of a server until it is as wanted; `nil` means that no server answers.
  private static func look(
    at url: URL, seconds: Int, until isWanted: (Int?) -> Bool, otherwise: String
  ) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 5
    while true {
      let session = URLSession(configuration: configuration)
      let answer = try? await session.answer(to: URLRequest(url: url.appending(path: "readyz")))
      session.finishTasksAndInvalidate()
      if isWanted((answer?.1 as? HTTPURLResponse)?.statusCode) { return }
      guard clock.now < end else { throw ToolError(otherwise, code: ExitCode.unavailable) }
      try await clock.sleep(for: pause)
    }
  }
}
