import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Control interface: archives and resets")
struct ControlArchiveTests {
  private func post(
    _ world: ControlWorld, _ target: String, _ body: String, type: String? = "text/plain"
  ) async -> String {
    await world.answer(world.request("POST", "/cloudsync/1/\(target)", body, type: type))
  }

  /// The first line of a server's archive.
  private func head(_ world: ControlWorld) async throws -> JSON {
    let response = await world.routes.answer(
      world.request("GET", "/cloudsync/1/export?secret=true"))
    let bytes = try #require(response.file).bytes()
    return try JSON(parsing: Array(bytes.prefix { $0 != UInt8(ascii: "\n") }))
  }

  @Test("An archive is imported into an empty server, with its identity or another one")
  func archiveIsImportedIntoEmptyServer() async throws {
    let source = ControlWorld()
    try await source.prepare()
    let archive = String(decoding: try source.server.exportArchive(), as: UTF8.self)
    let holdings = #"200 {"accounts":1,"databases":1}"#
    let identity = try await head(source)["identity"]?.string
    for (query, isSame) in [("", true), ("?newIdentity=false", true), ("?newIdentity=true", false)]
    {
      let world = ControlWorld()
      #expect(await post(world, "import\(query)", archive) == holdings)
      #expect(try await (head(world)["identity"]?.string == identity) == isSame, "\(query)")
      #expect(await post(world, "import", archive).hasPrefix("409 "))
      world.server.close()
    }
    let world = ControlWorld()
    for (body, status) in [("nonsense\n", 400), (String(archive.dropLast(9)), 400), ("", 400)] {
      #expect(await post(world, "import", body).hasPrefix("\(status) "), "\(body.prefix(20))")
    }
    #expect(await post(world, "import?newIdentity=1", archive).hasPrefix("400 "))
    #expect(await post(world, "import?identity=true", archive).hasPrefix("400 "))
    for type in [nil, "image/png", "text/plain; charset=latin1"] {
      #expect(await post(world, "import", archive, type: type).hasPrefix("415 "))
    }
    #expect(await post(world, "import", archive, type: "application/x-ndjson") == holdings)
  }

  @Test("An archive has the secret only on request")
  func archiveHasSecretOnRequest() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for (query, hasSecret) in [("", false), ("?secret=false", false), ("?secret=true", true)] {
      let response = await world.routes.answer(
        world.request("GET", "/cloudsync/1/export\(query)"))
      let text = String(decoding: try #require(response.file).bytes(), as: UTF8.self)
      #expect(text.prefix { $0 != "\n" }.contains("\"secret\"") == hasSecret, "\(query)")
    }
    #expect(await world.get("export?secret=maybe").hasPrefix("400 "))
  }

  @Test("A reset leaves no account and no database")
  func resetLeavesNothing() async throws {
    let world = ControlWorld()
    try await world.prepare()
    #expect(
      await post(world, "reset", "{}", type: "application/json")
        == #"200 {"accounts":0,"databases":0}"#)
    #expect(await post(world, "reset?x=1", "{}", type: "application/json").hasPrefix("400 "))
    #expect(try world.server.accounts().isEmpty)
  }
}
