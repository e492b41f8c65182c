import Foundation
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Paths that let in without a token.
///
/// Rules: WS-68 to WS-74 and WS-83 to WS-86.
@Suite("Signed paths for files and pushes")
struct SignedPathTests {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=%.".utf8)

  /// A path with another character at `index`; the path itself where that makes no difference.
  private func changed(_ path: String, at index: Int, to character: UInt8) -> String {
    var bytes = Array(path.utf8)
    bytes[index] = character
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Proves TH-8, WS-86.
  @Test("A signed path is invalid after any changed character")
  func aChangedCharacterInvalidatesASignedPath() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let key = try world.server.signingSecret().key
      for path in [belongings.filePath, belongings.uploadPath, belongings.courierPath] {
        try #require(SignedPath(path: path, signer: TokenSigner(key: key)) != nil)
        let start = try #require(path.lastIndex(of: "/")).utf16Offset(in: path) + 1
        for index in path.utf8.indices.enumerated().map(\.offset) {
          for character in Self.alphabet {
            let other = changed(path, at: index, to: character)
            // The part after the signature is a name for the file that the client chooses.
            guard other != path, character != UInt8(ascii: "/") || index < start else { continue }
            #expect(SignedPath(path: other, signer: TokenSigner(key: key)) == nil, "\(other)")
          }
        }
        for end in ["A", "=", "==", "AAAA", "%3D", ".", "%2F"] {
          #expect(
            SignedPath(path: path + end, signer: TokenSigner(key: key)) == nil, "\(path + end)")
        }
      }
    }
  }

  /// Proves WS-86.
  @Test("Over HTTP, a changed, foreign, misplaced or truncated signature is not found")
  func malformedSignedPathsAreRejected() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let signatures = belongings.signatures
      let token = try world.web.webAuthToken(for: AccessWorld.alice)
      var paths: [String] = []
      for path in [belongings.filePath, belongings.uploadPath, belongings.courierPath] {
        for index in stride(from: path.utf8.count - 1, to: 0, by: -1) {
          let character = UInt8(ascii: Array(path.utf8)[index] == UInt8(ascii: "A") ? "B" : "A")
          paths.append(changed(path, at: index, to: character))
        }
      }
      for prefix in ["/assets/download/", "/assets/upload/", "/courier/"] {
        paths += [prefix, prefix + "x", prefix + token, prefix + world.web.apiToken()]
        paths += signatures.map { prefix + $0 }.filter { path in
          ![belongings.filePath, belongings.uploadPath, belongings.courierPath].contains(path)
        }
      }
      for path in paths {
        for method in ["GET", "POST"] {
          let answer = try await world.ask(method, path, body: method == "POST" ? [] : nil)
          #expect(answer.status == 404 && answer.code == "NOT_FOUND", "\(path): \(answer.status)")
          #expect(
            answer.text.contains("the URL is not valid or has expired")
              == SignedPath.hasPrefix(path), "\(path)")
          #expect(!answer.whole.contains(AccessWorld.mark), "\(path)")
        }
      }
    }
  }

  /// Proves WS-27, WS-83, WS-84.
  @Test("A signed path is limited to its method, its time and its purpose")
  func aSignedPathIsLimitedToItsMethodTimeAndPurpose() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let wrong = [
        (belongings.filePath, ["POST", "PUT", "DELETE", "PATCH", "TRACE"]),
        (belongings.uploadPath, ["GET", "HEAD", "DELETE", "PATCH"]),
        (belongings.courierPath, ["POST", "PUT", "HEAD", "DELETE"]),
      ]
      for (path, methods) in wrong {
        for method in methods {
          let answer = try await world.ask(method, path, body: [])
          #expect(answer.status == 405 && !answer.values("allow").isEmpty, "\(method) \(path)")
          #expect(!answer.whole.contains(AccessWorld.mark), "\(method) \(path)")
        }
      }
      let file = try await world.ask("GET", belongings.filePath)
      #expect(file.status == 200 && file.text == "ALICES-file-content")
      let named = try await world.ask("GET", belongings.filePath + "/name.txt")
      #expect(named.text == "ALICES-file-content")
      world.pass(seconds: 15 * 60)
      let brought = try await world.ask("PUT", belongings.uploadPath, body: [1, 2])
      #expect(brought.status == 200, "\(brought.text)")
      let late = try await world.uploadTicket()
      world.pass(seconds: 15 * 60 + 1)
      // Refused on the head: a body as announced here is never waited for.
      let answer = try await world.send(
        "POST \(late) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\nContent-Length: 1000\r\n\r\n"
      )
      #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
    }
  }

  @Test("An upload in parts of a form is refused, because its boundaries would be stored")
  func multipartUploadIsRefused() async throws {
    try await AccessWorld.run { world in
      _ = try await world.settle()
      let path = try await world.uploadTicket()
      let form = Array("--x\r\n\r\nfile\r\n--x--\r\n".utf8)
      for type in ["multipart/form-data; boundary=x", "Multipart/Mixed; boundary=x"] {
        let refused = try await world.ask(
          "POST", path, fields: ["Content-Type: \(type)"], body: form)
        #expect(refused.status == 415, "\(refused.text)")
        #expect(refused.text.contains("the body must be the file's bytes"))
      }
      let stored = try await world.ask(
        "POST", path, fields: ["Content-Type: application/octet-stream"], body: form)
      #expect(stored.status == 200, "\(stored.text)")
    }
  }

  /// Proves WS-83.
  @Test("A request ID and names of any allowed length make a URL that takes the file")
  func longestNamesMakeValidURLs() async throws {
    try await AccessWorld.run { world in
      let long = String(repeating: "a", count: 255)
      let id = "cloudsync-request: \(long)"
      let query = try world.query(AccessWorld.alice)
      func ask(_ field: String, _ type: String) async throws -> TestClient.Answer {
        let token = #"{"recordName":"r","recordType":"\#(type)","fieldName":"\#(field)"}"#
        return try await world.post(
          .assetsUpload, query: query, #"{"tokens":[\#(token),\#(token)]}"#, fields: [id])
      }
      let tokens = try JSON(parsing: try await ask(long, long).body)["tokens"]?.array
      let paths = try #require(tokens).map { try world.path(of: $0["url"]?.string) }
      #expect(Set(paths).count == 2)
      var receipts: Set<String> = []
      for (number, path) in paths.enumerated() {
        let answer = try await world.ask("POST", path, body: [UInt8(number)])
        #expect(answer.status == 200, "\(answer.text)")
        receipts.insert(answer.text)
      }
      #expect(receipts.count == 2)
      for (field, type) in [(long + "a", "Note"), ("file", long + "a"), ("", "Note"), ("file", "")]
      {
        let answer = try await ask(field, type)
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
        #expect(answer.text.contains("1 to 255 bytes"), "\(answer.text)")
      }
    }
  }

  /// Proves WS-86.
  @Test("A signed path ends with its record, its access or its server")
  func aSignedPathEndsWithItsRecordAccessOrServer() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let other = try AccessWorld()
      for path in [belongings.filePath, belongings.uploadPath, belongings.courierPath] {
        let method = path == belongings.uploadPath ? "POST" : "GET"
        let answer = try await other.ask(method, path, body: method == "POST" ? [] : nil)
        #expect(answer.status == 404, "\(path) at another server: \(answer.status)")
      }
      await other.close()
      _ = try await world.alices(
        .recordsModify, .private,
        #"""
        {\#(AccessWorld.zone),"operations":[
        {"operationType":"forceDelete","record":{"recordName":"ALICES-share"}},
        {"operationType":"forceDelete","record":{"recordName":"ALICES-record"}}]}
        """#)
      let answer = try await world.ask("GET", belongings.filePath)
      #expect(answer.status == 404 && !answer.whole.contains(AccessWorld.mark), "\(answer.text)")
    }
  }
}
