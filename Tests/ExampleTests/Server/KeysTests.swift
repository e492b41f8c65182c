import Foundation
import Testing
import VerificationSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The keys of programs, made and used with openssl as CloudKit's documentation shows.
///
///
/// Proves S9.
@Suite("cloudsync keys", .timeLimit(.minutes(20)))
struct KeysTests {
  private let tool: ServerTool

  init() throws { tool = try ServerTool() }

  private func run(_ program: URL, _ arguments: [String]) async throws -> Data {
    let run = try await BuiltTool.run(ToolProcess(program: program, arguments: arguments))
    try #require(run.code == 0, "\(arguments): \(run.errors)")
    return Data(run.output.utf8)
  }

  /// The signature of a message, in Base64.
  private func signature(_ openssl: URL, _ message: Data) async throws -> String {
    try message.write(to: tool.folder.appendingPathComponent("message"))
    _ = try await run(
      openssl,
      [
        "dgst", "-sha256", "-sign", tool.path("key.pem"), "-out", tool.path("signature"),
        tool.path("message"),
      ])
    return try Data(contentsOf: tool.folder.appendingPathComponent("signature"))
      .base64EncodedString()
  }

  @Test("Keys and signatures of openssl are accepted, twenty times, until the key is removed")
  func opensslSignaturesAreAccepted() async throws {
    guard let openssl = InstalledProgram.find("openssl") else { return }
    _ = try await run(
      openssl,
      [
        "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", tool.path("key.pem"),
      ])
    _ = try await run(
      openssl,
      [
        "ec", "-in", tool.path("key.pem"), "-pubout", "-out", tool.path("public.pem"),
      ])
    let cloud = try await tool.serve()
    let list = try await tool.good(
      "keys", "add", tool.path("public.pem"), "--name", "importer", environment: cloud.environment)
    let id = try #require(list.split(separator: "\n").last?.split(separator: " ").first)
    #expect(id.count == 64)
    // The same key without a name keeps the one that it has.
    #expect(
      try await tool.good("keys", "add", tool.path("public.pem"), environment: cloud.environment)
        == list)
    let path = "/database/1/iCloud.test/development/public/records/modify"
    func save(_ name: String) async throws -> Int? {
      let body = Data(
        #"""
        {"operations":[{"operationType":"create","record":{"recordName":"\#(name)",
        "recordType":"Note"}}]}
        """#.utf8)
      try body.write(to: tool.folder.appendingPathComponent("body"))
      _ = try await run(
        openssl,
        [
          "dgst", "-sha256", "-binary", "-out", tool.path("hash"), tool.path("body"),
        ])
      let hash = try Data(contentsOf: tool.folder.appendingPathComponent("hash"))
      let date = Date().formatted(.iso8601)
      let message = Data("\(date):\(hash.base64EncodedString()):\(path)".utf8)
      var request = URLRequest(url: try #require(URL(string: cloud.url + path)))
      request.httpMethod = "POST"
      request.httpBody = body
      for (name, value) in [
        ("KeyID", String(id)), ("ISO8601Date", date),
        ("SignatureV1", try await signature(openssl, message)),
      ] {
        request.setValue(value, forHTTPHeaderField: "X-Apple-CloudKit-Request-\(name)")
      }
      return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }
    for number in 0..<20 { #expect(try await save("n\(number)") == 200) }
    let records = try await tool.good(
      "inspect", "records", "--public", environment: cloud.environment)
    #expect(records.contains("n19"))
    #expect(
      try await tool.good("keys", "remove", String(id), environment: cloud.environment)
        == "no keys\n")
    #expect(try await save("late") == 401)
    let private_ = try await tool.run(
      ["keys", "add", tool.path("key.pem")], environment: cloud.environment)
    #expect(private_.code == 65 && private_.errors.contains("-pubout"), "\(private_.errors)")
    #expect(await cloud.stop() == 0)
  }

  @Test("A server that knows only the account of a key starts with the usual account")
  func accountOfKeyIsNoneOfTheServers() async throws {
    guard let openssl = InstalledProgram.find("openssl") else { return }
    _ = try await run(
      openssl,
      ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", tool.path("key.pem")])
    _ = try await run(
      openssl, ["ec", "-in", tool.path("key.pem"), "-pubout", "-out", tool.path("public.pem")])
    let path = tool.path("cloud.sqlite")
    let first = try await tool.serve("--data", path, "--account", "ada")
    #expect(await first.stop() == 0)
    try await tool.good("reset", "--yes", "--data", path)
    try await tool.good("keys", "add", tool.path("public.pem"), "--data", path)
    let second = try await tool.serve("--data", path)
    #expect(Array(second.webAuthTokens.keys) == ["default"])
    #expect(try await second.save("n1") == 200)
    #expect(await second.stop() == 0)
  }
}
