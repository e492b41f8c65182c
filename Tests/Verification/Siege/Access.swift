import CommandLineKit
import Foundation
import VerificationSupport
import WebServices

/// The address and the tokens of the tested server, and what alice keeps there.
struct Access: Sendable {
  static let container = "iCloud.siege"
  /// A part of everything that alice keeps; names can be guessed, this can't.
  static let secret = "only-alice-knows-4711"

  let port: Int
  /// The API token, and the web tokens of the owner and of the hostile account.
  let (api, alice, mallory): (String, String, String)
  /// The ID of a server-to-server key whose private key is lost.
  private(set) var keyID = ""
  private let controlToken: String
  /// A path with a ticket for alice's file.
  private(set) var filePath = ""
  /// The user record name of alice.
  private(set) var alicesName = ""

  /// Reads the greeting of a server.
  init(_ greeting: [String]) throws(ToolError) {
    guard greeting.count == 5, let port = Int(greeting[0]) else {
      throw ToolError("the server greets in an unknown way")
    }
    self.port = port
    (api, alice, mallory) = (greeting[1], greeting[2], greeting[3])
    controlToken = greeting[4]
  }

  /// The path and query of an endpoint, with tokens.
  func target(_ endpoint: String, _ database: String = "private", web: String?) -> String {
    "/database/1/\(Self.container)/development/\(database)/\(endpoint)?ckAPIToken=\(api)"
      + (web.map { "&ckWebAuthToken=\($0)" } ?? "")
  }

  /// The bytes of a request to the server.
  func request(
    _ method: String, _ target: String, fields: String = "", body: [UInt8] = []
  ) -> [UInt8] {
    HTTPMessage.request(method, target, host: "localhost:\(port)", fields: fields, body: body)
  }

  /// The bytes of a request with a body of JSON.
  func post(_ endpoint: String, web: String, _ json: String) -> [UInt8] {
    request("POST", target(endpoint, web: web), body: Array(json.utf8))
  }

  /// A small request of alice, whose response is always the same.
  var lookup: [UInt8] { lookup("paper-3") }

  private func lookup(_ name: String) -> [UInt8] {
    post(
      "records/lookup", web: alice,
      #"{"zoneID":{"zoneName":"Vault"},"records":[{"recordName":"\#(name)"}]}"#)
  }

  /// Saves alice's records, from `Data/AlicesData.json`, and one file of `fileBytes` bytes.
  mutating func settle(fileBytes: Int) throws {
    let client = try LocalClient(port: port)
    let bodies = try JSON(parsing: PackageResources.AlicesData_json)
    func ask(_ what: String, _ request: [UInt8]) throws -> JSON {
      let answer = try client.expect(request, what)
      let json = try JSON(parsing: Array(answer.body))
      guard !answer.text.contains("serverErrorCode") else {
        throw ToolError("\(what): \(answer.text)")
      }
      return json
    }
    func save(_ endpoint: String, receipt: String = "") throws -> JSON {
      let body = (bodies[endpoint]?.text ?? "").replacing("SECRET", with: Self.secret)
        .replacing("\"RECEIPT\"", with: receipt)
      return try ask(endpoint, post(endpoint, web: alice, body))
    }
    _ = try save("zones/modify")
    let upload = try save("assets/upload")["tokens"]?.array?.first?["url"]?.string
    let content = [UInt8](repeating: UInt8(ascii: "f"), count: fileBytes)
    let uploaded = try ask("uploading a file", request("POST", try path(upload), body: content))
    _ = try save("records/modify", receipt: uploaded["singleFile"]?.text ?? "")
    let found = try ask("reading a record", lookup("paper-file"))
    let file = found["records"]?.array?.first?["fields"]?["content"]?["value"]
    filePath = try path(file?["downloadURL"]?.string)
    let caller = try ask(
      "asking for the caller", request("GET", target("users/caller", "public", web: alice)))
    alicesName = caller["userRecordName"]?.string ?? ""
    let keys = try ask(
      "adding a key",
      request(
        "POST", "/cloudsync/1/keys",
        fields: "Authorization: Bearer \(controlToken)\r\nContent-Type: application/json\r\n",
        body: Array((bodies["keys"]?.text ?? "").utf8)))
    keyID = keys["keys"]?.array?.first?["keyID"]?.string ?? ""
  }

  private func path(_ url: String?) throws(ToolError) -> String {
    guard let path = url.flatMap({ URL(string: $0)?.path }) else { throw ToolError("no file URL") }
    return path
  }

  /// Deletes what the hostile clients saved in their own databases, so that the memory that the
  /// server holds in the end is what it leaks.
  func deleteHostileData(_ client: LocalClient) throws(ToolError) {
    try delete("zones", "zone", "zoneID", client) { $0["zoneName"]?.string != "_defaultZone" }
    try delete("subscriptions", "subscription", "subscriptionID", client) { _ in true }
  }

  private func delete(
    _ kind: String, _ member: String, _ key: String, _ client: LocalClient,
    where isDeleted: (JSON) -> Bool
  ) throws(ToolError) {
    let answer = try client.expect(
      request("GET", target("\(kind)/list", web: mallory)), "listing \(kind)")
    guard let list = try? JSON(parsing: Array(answer.body)) else {
      throw ToolError("listing \(kind): \(answer.text.prefix(300))")
    }
    let ids = (list[kind]?.array ?? []).compactMap { $0[key] }.filter(isDeleted)
    for start in stride(from: 0, to: ids.count, by: 100) {
      let operations = ids[start...].prefix(100).map { id in
        JSON.members(["operationType": .string("delete"), member: .members([key: id])])
      }
      let body = JSON.members(["operations": .array(operations)])
      _ = try client.expect(
        post("\(kind)/modify", web: mallory, body.text), "deleting \(kind)")
    }
  }
}
