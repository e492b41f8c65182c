import CloudProtocol
import Foundation
import LoopbackServer
import WebServices

/// Everything as one text, and back.
extension ControlRoutes {
  /// The longest archive that is taken, in bytes; longer ones are imported into a file.
  package static let archiveBytes = 64 << 20

  /// The server's archive, as text for people to keep.
  func exportArchive(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPResponse {
    _ = try ControlQuery(head.query, knowing: [])
    let archive = try ask { () throws(CloudError) in try server.exportArchive() }
    return HTTPResponse(
      200,
      fields: [
        .init(name: "content-type", value: "text/plain; charset=utf-8"),
        .init(
          name: "content-disposition", value: "attachment; filename=\"cloudsync-archive.jsonl\""),
        .init(name: "cache-control", value: "no-store"),
        .init(name: "x-content-type-options", value: "nosniff"),
      ], body: [UInt8](archive))
  }

  /// Puts an archive into the server, which must be empty, and says what it holds then.
  func importArchive(_ body: [UInt8]) throws(HTTPRefusal) -> JSON {
    try ask { () throws(CloudError) in try server.importArchive(Data(body)) }
    return try holdings()
  }

  /// Empties the server, and says what it holds then.
  func reset(_ body: [UInt8]) throws(HTTPRefusal) -> JSON {
    try ControlArguments(body).finish()
    try ask { () throws(CloudError) in try server.reset() }
    return try holdings()
  }

  private func holdings() throws(HTTPRefusal) -> JSON {
    let accounts = try ask { () throws(CloudError) in try server.accounts().count }
    let databases = try ask { () throws(CloudError) in try server.databases().count }
    return .members(["accounts": .integer(accounts), "databases": .integer(databases)])
  }
}
