import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Tokens and signed paths while the server's secret changes.
///
/// Rules: WS-8 to WS-13.
@Suite("Tokens of a server whose secret is replaced")
struct SecretChangeTests {
  private func user(_ world: AccessWorld, _ query: String) async throws -> Int {
    try await world.ask("GET", world.path(.usersCaller, .public) + "?" + query).status
  }

  /// Proves WS-183.
  @Test("A reset ends all tokens and signed paths at once, as a restart does")
  func aResetEndsAllTokens() async throws {
    try await AccessWorld.run { world in
      let (query, path) = (try world.query("bob"), try await world.createToken())
      #expect(try await user(world, query) == 200)
      try world.server.reset()
      #expect(try await user(world, query) == 401)
      #expect(try await world.ask("GET", path).status == 404)
      let next = try world.query("bob")
      #expect(try await user(world, next) == 200)
      // A server that begins with the same data has the same API token.
      let again = try LoopbackWebServer(world.server)
      #expect(again.apiToken() == world.web.apiToken())
      await again.stop()
    }
  }

  /// Proves WS-183.
  @Test("Tokens of an archive with the secret are valid in a server that runs already")
  func tokensOfAnArchiveAreValidAtOnce() async throws {
    try await AccessWorld.run { old in
      let query = try old.query("bob")
      let archive = try old.server.exportArchive()
      try await AccessWorld.run { world in
        #expect(try await user(world, query) == 401)
        try world.server.importArchive(archive)
        #expect(try await user(world, query) == 200)
        #expect(world.web.apiToken() == old.web.apiToken())
      }
    }
  }

  /// Proves WS-183.
  @Test("Another server on the same file uses the new tokens after its next check")
  func anotherServerUsesTheNewTokens() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("secret-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("cloud.sqlite").path
    try await AccessWorld.run(path: path) { first in
      try await AccessWorld.run(path: path) { second in
        let old = try first.query("bob")
        #expect(try await user(second, old) == 200)
        try first.server.reset()
        _ = try second.server.checkForForeignChanges()
        #expect(try await user(second, old) == 401)
        let new = try first.query("bob")
        #expect(try await user(second, new) == 200)
        let courier = try await first.createToken()
        // The path is known there: 405, not 404.
        #expect(try await second.ask("POST", courier, body: []).status == 405)
      }
    }
  }
}
