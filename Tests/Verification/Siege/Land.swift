import Foundation
import WebServices

/// What is on the besieged server: how it is asked, and what alice keeps there.
struct Land {
  static let container = "iCloud.siege"
  static let zone = "Vault"
  /// Part of the content of everything of alice's; names can be guessed, this not.
  static let secret = "only-alice-knows-4711"
  static let recordCount = 16

  var keys: ServerRole.Keys
  /// A path with a ticket for a file, that alice was given.
  var filePath = ""
  /// The user record name of alice.
  var alicesName = ""

  init(_ keys: ServerRole.Keys) { self.keys = keys }

  /// The path and query of an endpoint, with tokens.
  func target(_ endpoint: String, _ database: String = "private", web: String?) -> String {
    "/database/1/\(Land.container)/development/\(database)/\(endpoint)?ckAPIToken=\(keys.api)"
      + (web.map { "&ckWebAuthToken=\($0)" } ?? "")
  }

  /// The bytes of a whole request.
  func request(_ method: String, _ target: String, body: [UInt8] = []) -> [UInt8] {
    let head =
      "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(keys.port)\r\n"
      + (method == "GET" ? "\r\n" : "Content-Length: \(body.count)\r\n\r\n")
    return Array(head.utf8) + body
  }

  func post(
    _ endpoint: String, _ database: String = "private", web: String, _ body: JSON
  ) -> [UInt8] {
    request("POST", target(endpoint, database, web: web), body: body.bytes)
  }

  /// A small question of alice's, whose answer is always the same.
  var lookup: [UInt8] {
    post(
      "records/lookup", web: keys.alice,
      .members([
        "zoneID": .members(["zoneName": .string(Land.zone)]),
        "records": .array([.members(["recordName": .string("paper-3")])]),
      ]))
  }

  /// Puts alice's things there; `fileBytes` is the size of the one file.
  mutating func settle(fileBytes: Int) throws(SiegeFault) {
    let client = try Client(port: keys.port)
    let zone = JSON.members(["zoneName": .string(Land.zone)])
    _ = try client.expect(
      post(
        "zones/modify", web: keys.alice,
        .members([
          "operations": .array([
            .members([
              "operationType": .string("create"), "zone": .members(["zoneID": zone]),
            ])
          ])
        ])), "making a zone")
    let announced = try client.expect(
      post(
        "assets/upload", web: keys.alice,
        .members([
          "zoneID": zone,
          "tokens": .array([
            .members([
              "recordName": .string("paper-file"), "recordType": .string("File"),
              "fieldName": .string("content"),
            ])
          ]),
        ])), "announcing a file")
    guard let text = try json(announced)["tokens"]?.array?.first?["url"]?.string,
      let path = URL(string: text)?.path
    else { throw SiegeFault("no place was given for a file") }
    let content = [UInt8](repeating: UInt8(ascii: "f"), count: fileBytes)
    let brought = try client.expect(request("POST", path, body: content), "bringing a file")
    guard let file = try json(brought)["singleFile"] else { throw SiegeFault("no receipt") }
    var operations = (0..<Land.recordCount).map { index in
      operation(
        "paper-\(index)", "Note",
        [
          "title": ["value": .string("\(Land.secret) is the title")],
          "number": ["value": .integer(index), "type": .string("INT64")],
        ])
    }
    operations.append(
      operation(
        "paper-file", "File", ["content": ["value": file, "type": .string("ASSETID")]]))
    _ = try client.expect(
      post(
        "records/modify", web: keys.alice,
        .members(["zoneID": zone, "operations": .array(operations)])), "saving records")
    let found = try client.expect(
      post(
        "records/lookup", web: keys.alice,
        .members([
          "zoneID": zone,
          "records": .array([.members(["recordName": .string("paper-file")])]),
        ])), "reading a record")
    guard
      let url = try json(found)["records"]?.array?.first?["fields"]?["content"]?["value"]?[
        "downloadURL"]?.string, let place = URL(string: url)?.path
    else { throw SiegeFault("the file of a record has no address") }
    filePath = place
    let caller = try client.expect(
      request("GET", target("users/caller", "public", web: keys.alice)), "asking who asks")
    alicesName = try json(caller)["userRecordName"]?.string ?? ""
  }

  private func operation(
    _ name: String, _ type: String, _ fields: KeyValuePairs<String, KeyValuePairs<String, JSON?>>
  ) -> JSON {
    var members = JSON.Members()
    for (name, value) in fields { members.add(name, .members(value)) }
    return .members([
      "operationType": .string("forceUpdate"),
      "record": .members([
        "recordName": .string(name), "recordType": .string(type), "fields": .object(members),
      ]),
    ])
  }

  private func json(_ answer: Answers.Answer) throws(SiegeFault) -> JSON {
    do throws(JSONParsingError) {
      return try JSON(parsing: Array(answer.body))
    } catch {
      throw SiegeFault("an answer is not JSON: \(error)")
    }
  }
}
