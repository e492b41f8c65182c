import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Files that are larger than a part, which are sent and stored part by part.
@Suite("Large files", .timeLimit(.minutes(20)))
struct LargeFileTests {
  private static let part = AssetContent.partBytes

  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16) }
  }

  /// Runs a test on a server in a file, and one in memory.
  private func run(_ test: (AccessWorld) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("large-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await AccessWorld.run(test)
    try await AccessWorld.run(path: folder.appendingPathComponent("server.sqlite").path, test)
  }

  /// Saves a record with a file, and returns the path to get the file.
  private func save(_ content: [UInt8], _ world: AccessWorld) async throws -> String {
    let ask = #"{"tokens":[{"recordName":"r","recordType":"Note","fieldName":"file"}]}"#
    let tokens = try await world.alices(.assetsUpload, body: ask)
    let url = try #require(tokens["tokens"]?.array?.first?["url"]?.string)
    let answer = try await world.ask(
      "POST", try world.path(of: url), body: content)
    let file = try #require(try JSON(parsing: answer.body)["singleFile"], "\(answer.text)")
    #expect(file["fileChecksum"]?.string == SHA256.hexadecimal(of: content))
    let text = String(decoding: file.bytes, as: UTF8.self)
    _ = try await world.alices(
      .recordsModify,
      body: #"""
        {"operations":[{"operationType":"forceReplace","record":{"recordName":"r",
        "recordType":"Note","fields":{"file":{"type":"ASSETID","value":\#(text)}}}}]}
        """#)
    let found = try await world.alices(.recordsLookup, body: #"{"records":[{"recordName":"r"}]}"#)
    let value = found["records"]?.array?.first?["fields"]?["file"]?["value"]
    return try world.path(of: value?["downloadURL"]?.string)
  }

  /// Proves WS-115.
  @Test("A file of several parts comes back whole, and any range of it")
  func fileOfSeveralPartsComesBack() async throws {
    let content = Self.bytes(2 * Self.part + 5)
    try await run { world in
      let path = try await save(content, world)
      let whole = try await world.ask("GET", path)
      #expect(whole.status == 200 && whole.body == content && whole.length == content.count)
      let head = try await world.ask("HEAD", path)
      #expect(head.status == 200 && head.body.isEmpty && head.length == content.count)
      let tag = try #require(whole.values("etag").first)
      #expect(try await world.ask("GET", path, fields: ["If-None-Match: \(tag)"]).status == 304)
      for range in [
        0..<1, Self.part - 2..<Self.part + 2, 7..<2 * Self.part + 1, Self.part..<2 * Self.part,
        content.count - 1..<content.count,
      ] {
        let answer = try await world.ask(
          "GET", path, fields: ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
        #expect(answer.status == 206 && answer.body == Array(content[range]), "\(range)")
      }
    }
  }

  @Test("Requests on one connection go on after a large file")
  func connectionGoesOnAfterLargeFile() async throws {
    let content = Self.bytes(Self.part + 1)
    try await run { world in
      let path = try await save(content, world)
      let client = try TestClient(port: world.web.port)
      let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(world.web.port)\r\n\r\n"
      await client.send(request + request + request)
      for _ in 0..<3 {
        let answer = try await client.answer(to: "GET")
        #expect(answer.status == 200 && answer.body == content)
      }
      await client.close()
    }
  }

  @Test("A file that is deleted while it is sent ends the connection before its end")
  func deletedFileEndsTheConnection() async throws {
    let content = Self.bytes(24 * Self.part)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("large-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("server.sqlite").path
    try await AccessWorld.run(path: path) { world in
      let path = try await save(content, world)
      // Without reading, the system's buffers hold a few of the parts.
      let client = try TestClient(port: world.web.port, receiveBuffer: 65536)
      await client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(world.web.port)\r\n\r\n")
      try await client.waitForBytes()
      _ = try await save(Self.bytes(3), world)
      world.pass(seconds: 3 * 24 * 3600)
      _ = try await save(Self.bytes(4), world)
      await #expect(throws: TestClient.End.self) { try await client.answer(to: "GET") }
      await client.close()
      let gone = try await world.ask("GET", path)
      #expect(gone.status == 404, "\(gone.text)")
    }
  }

  /// Proves TH-11.
  @Test("The limit of a file alone bounds its upload, also above the limit of other bodies")
  func filesMayExceedOtherBodies() async throws {
    try await AccessWorld.run(limits: HTTPLimits(bodyBytes: Self.part)) { world in
      let content = Self.bytes(2 * Self.part)
      _ = try await save(content, world)
      let path = try await world.uploadTicket()
      let client = try TestClient(port: world.web.port)
      let head = "PUT \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(world.web.port)\r\n"
      let size = String(content.count, radix: 16)
      await client.send(
        Array("\(head)Transfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8) + content
          + Array("\r\n0\r\n\r\n".utf8))
      #expect(try await client.answer().status == 200)
      await client.close()
    }
    try await AccessWorld.run { world in
      for (raised, status) in [(false, 413), (true, 100)] {
        var limits = world.server.limits
        if raised { limits.assetBytes = 1 << 30 }
        world.server.controls.setLimits(limits)
        let path = try await world.uploadTicket()
        let answer = try await world.send(
          "PUT \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(world.web.port)\r\n"
            + "Content-Length: \(1 << 30)\r\nExpect: 100-continue\r\n\r\n")
        #expect(answer.status == status)
      }
    }
  }

  @Test("Large bodies that are cut short, or too long, leave nothing behind")
  func incompleteBodiesLeaveNothing() async throws {
    try await run { world in
      var limits = world.server.limits
      limits.assetBytes = 3 * Self.part
      world.server.controls.setLimits(limits)
      let ask = #"{"tokens":[{"recordName":"r","recordType":"Note","fieldName":"file"}]}"#
      let tokens = try await world.alices(.assetsUpload, body: ask)
      let path = try world.path(of: tokens["tokens"]?.array?.first?["url"]?.string)
      let tooLong = try await world.ask("POST", path, body: Self.bytes(3 * Self.part + 1))
      #expect(tooLong.status == 413)
      let client = try TestClient(port: world.web.port)
      await client.send(
        "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(world.web.port)\r\n"
          + "Content-Length: \(2 * Self.part)\r\n\r\n")
      await client.send(Self.bytes(Self.part))
      await client.close()
      let names = try FileManager.default.contentsOfDirectory(
        atPath: FileManager.default.temporaryDirectory.path)
      #expect(!names.contains { $0.hasPrefix("cloudsync-body-") })
      // The same ticket still takes the whole file.
      let whole = try await world.ask("POST", path, body: Self.bytes(2 * Self.part))
      #expect(whole.status == 200)
    }
  }
}
