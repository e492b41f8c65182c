import Foundation
import Testing
import VerificationSupport

/// Runs the configuration of the page against nginx, as a web client would use it.
///
/// Needs nginx and openssl (`apt-get install nginx-light openssl`): without them the test checks
/// nothing, and says so; with the environment variable `CI` it fails.
@Suite("A proxy with TLS in front of the server")
struct ProxyTests {
  private static let name = "sync.example.com"
  private let tool: ServerTool

  init() throws { tool = try ServerTool() }

  private func run(_ program: URL, _ arguments: [String], input: String = "") async throws -> String
  {
    let process = ToolProcess(program: program, arguments: arguments)
    let run = try await BuiltTool.run(process, input: Data(input.utf8))
    try #require(run.code == 0, "\(program.lastPathComponent) \(arguments): \(run.errors)")
    return run.output
  }

  /// The configuration of the page, with the places of this test, which needs no port.
  private func configuration(_ backend: String) throws -> String {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let page = try String(
      contentsOf: root.appendingPathComponent("Docs/Server.md"), encoding: .utf8)
    let start = try #require(page.range(of: "```nginx\n")?.upperBound)
    let end = try #require(page.range(of: "```", range: start..<page.endIndex)?.lowerBound)
    var server = String(page[start..<end])
    for (old, new) in [
      ("443 ssl", "unix:\(tool.path("https.sock")) ssl"),
      ("/etc/ssl/private/sync.example.com.key", tool.path("key.pem")),
      ("/etc/ssl/certs/sync.example.com.pem", tool.path("certificate.pem")),
      ("http://127.0.0.1:8400", backend),
    ] {
      try #require(server.contains(old), "\(old)")
      server = server.replacingOccurrences(of: old, with: new)
    }
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(tool.path($0));"
    }
    return """
      daemon off;
      pid \(tool.path("nginx.pid"));
      error_log \(tool.path("error.log"));
      events {}
      http {
      access_log \(tool.path("access.log"));
      \(folders.joined(separator: "\n"))
      \(server)
      }
      """
  }

  /// What the web client gets from a URL, through the proxy.
  private func curl(_ curl: URL, _ url: String, _ options: [String] = [], _ body: String = "")
    async throws -> String
  {
    try #require(url.hasPrefix("https://\(Self.name)/"), "\(url)")
    return try await run(
      curl,
      [
        "--silent", "--show-error", "--fail", "--unix-socket", tool.path("https.sock"), "--cacert",
        tool.path("certificate.pem"),
      ] + options + [url], input: body)
  }

  /// Starts the server, and nginx with a certificate in front of it.
  private func start(_ nginx: URL, _ openssl: URL) async throws -> (ServedCloud, RunningTool) {
    _ = try await run(
      openssl,
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
        "/CN=\(Self.name)", "-addext", "subjectAltName=DNS:\(Self.name)", "-keyout",
        tool.path("key.pem"), "-out", tool.path("certificate.pem"),
      ])
    let cloud = try await tool.serve("--public-url", "https://\(Self.name)")
    try configuration(cloud.url).write(
      toFile: tool.path("nginx.conf"), atomically: true, encoding: .utf8)
    let process = ToolProcess(
      program: nginx, arguments: ["-p", tool.folder.path, "-c", tool.path("nginx.conf")])
    let proxy = try RunningTool(process)
    while !FileManager.default.fileExists(atPath: tool.path("nginx.pid")) { await Task.yield() }
    return (cloud, proxy)
  }

  @Test("A web client saves records and files, and gets pushes, through nginx with TLS")
  func webClientWorksThroughProxyWithTLS() async throws {
    guard let nginx = InstalledProgram.find("nginx"),
      let openssl = InstalledProgram.find("openssl"), let client = InstalledProgram.find("curl")
    else { return }
    let (cloud, proxy) = try await start(nginx, openssl)
    let token = try #require(cloud.webAuthTokens["default"])
    let query = "?ckAPIToken=\(cloud.apiToken)&ckWebAuthToken=\(token)"
    func post(
      _ path: String, _ body: String, device: String = "tablet"
    ) async throws -> [String: Any] {
      let url = "https://\(Self.name)\(path)\(query)&clientId=\(device)"
      let text = try await curl(client, url, ["--data-binary", "@-"], body)
      return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
    let database = "/database/1/iCloud.test/development/private"
    let tokens = try await post(
      database + "/assets/upload",
      #"{"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#)
    let upload = try #require((tokens["tokens"] as? [[String: Any]])?.first?["url"] as? String)
    let content = String(repeating: "content ", count: 200_000)
    let uploaded = try await curl(client, upload, ["--data-binary", "@-"], content)
    let file = try #require(
      uploaded.firstRange(of: #"{"singleFile":"#).map { uploaded[$0.upperBound...] })
    let push = try await post(
      "/device/1/iCloud.test/development/tokens/create", #"{"apnsEnvironment":"development"}"#)
    let courier = try #require(push["webcourierURL"] as? String)
    _ = try await post(
      database + "/subscriptions/modify",
      #"""
      {"operations":[{"operationType":"create","subscription":{"subscriptionType":"query",
      "subscriptionID":"all","query":{"recordType":"Note"},"firesOn":["create"]}}]}
      """#)
    let saved = try await post(
      database + "/records/modify",
      #"""
      {"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"Note",
      "fields":{"file":{"type":"ASSETID","value":\#(file.dropLast())}}}}]}
      """#)
    #expect((saved["records"] as? [[String: Any]])?.count == 1, "\(saved)")
    let found = try await post(
      database + "/records/lookup", #"{"records":[{"recordName":"a"}]}"#)
    let fields = (found["records"] as? [[String: Any]])?.first?["fields"] as? [String: Any]
    let value = (fields?["file"] as? [String: Any])?["value"] as? [String: Any]
    let download = try #require(value?["downloadURL"] as? String, "\(found)")
    #expect(try await curl(client, download) == content)
    // The device that saves gets no push; another one does.
    _ = try await post(
      database + "/records/modify",
      #"""
      {"operations":[{"operationType":"create",
      "record":{"recordName":"b","recordType":"Note"}}]}
      """#, device: "phone")
    #expect(try await curl(client, courier).contains(#""b""#))
    try await checkPaths(client)
    #expect(courier.hasPrefix("https://\(Self.name)/courier/"))
    #expect(await cloud.stop() == 0)
    // Now the proxy has something to report.
    let lost = try await curl(
      client, "https://\(Self.name)\(database)/zones/list\(query)", ["--no-fail"])
    #expect(lost.contains("502"), "\(lost)")
    proxy.send(SIGTERM)
    #expect(await proxy.exitCode() == 0)
    for log in ["access.log", "error.log"] {
      let text = try String(contentsOfFile: tool.path(log), encoding: .utf8)
      #expect(!text.contains(token) && !text.contains(cloud.apiToken), "\(log): \(text)")
    }
  }

  /// Checks that the proxy passes on what clients need, and nothing for operators.
  private func checkPaths(_ client: URL) async throws {
    let status = ["--write-out", "\n%{http_code}", "--no-fail", "--path-as-is"]
    func answer(_ path: String) async throws -> Substring? {
      try await curl(client, "https://\(Self.name)\(path)", status).split(separator: "\n").last
    }
    for path in [
      "/", "/console", "//console", "/%63onsole", "/database/../console", "/metrics", "/healthz",
      "/readyz", "/cloudsync/1/status", "/cloudsync/1/accounts", "/sign-in/..", "/favicon.ico",
    ] {
      #expect(try await answer(path) == "404", "\(path)")
    }
    // The server's own answers.
    let page = try await curl(client, "https://\(Self.name)/sign-in", status)
    #expect(page.contains("<html") && page.hasSuffix("200"), "\(page)")
    let path = "https://\(Self.name)/database/1/iCloud.test/development/private/zones/list"
    let refused = try await curl(client, path, status + ["--data-binary", "@-"], "{}")
    #expect(refused.contains("AUTHENTICATION_FAILED") && refused.hasSuffix("401"), "\(refused)")
  }
}
