import Foundation
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Web tokens over time.
///
/// Rules: WS-8 to WS-13.
@Suite("Tokens: handed on, kept and lost")
struct TokenTests {
  private static let header = "x-apple-cloudkit-web-auth-token"

  private func caller(
    _ world: AccessWorld, _ token: String
  ) async throws -> TestClient.Answer {
    let query = "ckAPIToken=\(world.web.apiToken())&ckWebAuthToken=\(token)"
    return try await world.ask("GET", world.path(.usersCaller, .public) + "?" + query)
  }

  /// Proves WS-10.
  @Test("Each answer has a new token for the same user, and the older tokens still work")
  func eachAnswerRotatesToken() async throws {
    try await AccessWorld.run { world in
      let first = try world.web.webAuthToken(for: "bob")
      var all = [first]
      for _ in 0..<20 {
        let answer = try await caller(world, all.last ?? "")
        let next = answer.values(Self.header)
        #expect(answer.status == 200 && next.count == 1, "\(answer.whole)")
        all += next
      }
      #expect(Set(all).count == all.count)
      let users = try await withThrowingTaskGroup(of: String.self) { group in
        for token in all { group.addTask { try await caller(world, token).text } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(users.count == 1 && users.first?.contains("userRecordName") == true, "\(users)")
      // A failed question brings one as well; a refused one brings none.
      let failed = try await world.post(
        .recordsLookup, query: try world.query("bob"), "not JSON")
      #expect(failed.status == 400 && failed.values(Self.header).count == 1)
      let refused = try await caller(world, "x")
      #expect(refused.values(Self.header).isEmpty)
    }
  }

  /// Proves WS-11.
  @Test("A token is valid for its lifetime, counted from when it was issued")
  func tokenExpiresAfterLifetime() async throws {
    try await AccessWorld.run { world in
      let first = try world.web.webAuthToken(for: "bob")
      world.pass(seconds: AccessWorld.lifetime)
      let answer = try await caller(world, first)
      #expect(answer.status == 200)
      let second = try #require(answer.values(Self.header).first)
      world.pass(seconds: 1)
      #expect(try await caller(world, first).status == 421)
      world.pass(seconds: AccessWorld.lifetime - 1)
      #expect(try await caller(world, second).status == 200)
      world.pass(seconds: 1)
      #expect(try await caller(world, second).status == 421)
      // A clock that was set back makes nobody a stranger.
      world.pass(seconds: -10 * AccessWorld.lifetime)
      #expect(try await caller(world, second).status == 200)
    }
  }

  /// Proves WS-11.
  @Test("A token for one container is renewed for that container only")
  func containerTokenRenewsForContainer() async throws {
    try await AccessWorld.run { world in
      let token = try world.web.webAuthToken(for: "bob", container: AccessWorld.container)
      let next = try #require(try await caller(world, token).values(Self.header).first)
      let query = "ckAPIToken=\(world.web.apiToken())&ckWebAuthToken=\(next)"
      let path = world.path(.usersCaller, .public)
      #expect(try await world.ask("GET", path + "?" + query).status == 200)
      let elsewhere = path.replacing(AccessWorld.container, with: AccessWorld.otherContainer)
      #expect(try await world.ask("GET", elsewhere + "?" + query).status == 421)
    }
  }

  /// Proves WS-11, WS-59.
  @Test("Tokens issued before a restart are valid after it, on the same file only")
  func tokensSurviveRestartOnSameFile() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("access-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("cloud.sqlite").path
    var api = ""
    var web = ""
    var file = ""
    var user = ""
    try await AccessWorld.run(path: path) { world in
      let answer = try await caller(world, try world.web.webAuthToken(for: AccessWorld.alice))
      web = try #require(answer.values(Self.header).first)
      (api, user) = (world.web.apiToken(), answer.text)
      file = try await world.settle().filePath
    }
    try await AccessWorld.run(path: path) { world in
      let answer = try await caller(world, web)
      #expect(world.web.apiToken() == api && answer.status == 200 && answer.text == user)
      #expect(try await world.ask("GET", file).text == "ALICES-file-content")
    }
    try await AccessWorld.run(path: path + "-another") { world in
      #expect(world.web.apiToken() != api)
      let told = try await caller(world, web)
      let found = try await world.ask("GET", file)
      #expect(told.status == 421 && found.status == 404)
    }
  }

  /// Proves TH-9.
  @Test("The code that serves requests prints, logs and records nothing")
  func serverCodePrintsAndLogsNothing() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    var count = 0
    for room in ["LoopbackHTTP", "WebServices", "LoopbackServer", "CloudMachine"] {
      let folder = root.appendingPathComponent("Sources/\(room)")
      let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      for case let name as String in files where name.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        count += 1
        // Examples in comments print what their reader is to see.
        let code = text.split(separator: "\n")
          .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        for word in [
          "print(", "debugPrint(", "NSLog(", "dump(", "os_log", "Logger(", "syslog(", "fputs(",
          "standardOutput", "standardError", "STDERR_FILENO", "STDOUT_FILENO",
        ] where code.contains(word) {
          Issue.record("\(room)/\(name) has \(word)")
        }
      }
    }
    #expect(count > 100)
  }

  @Test("A full cache is emptied before it takes another value")
  func fullCacheIsEmptied() {
    let cache = BoundedCache<String>(most: 2)
    var made: [String] = []
    func use(_ keys: String...) {
      for key in keys {
        let value = cache.value(key) {
          made.append(key)
          return "value of \(key)"
        }
        #expect(value == "value of \(key)")
      }
    }
    use("a", "b", "a", "b")
    #expect(made == ["a", "b"])
    use("c", "a")
    #expect(made == ["a", "b", "c", "a"])
    use("c", "a")
    #expect(made.count == 4)
  }
}
