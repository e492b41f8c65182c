import CloudProtocol
import Foundation
import LoopbackServer
import WebServices

/// Export, import and reset of the server's data.
extension ControlRoutes {
  /// The maximum size of an imported archive in bytes; import larger archives into a file.
  package static let archiveBytes = 64 << 20

  /// The server's archive, as a text attachment; a large one is kept in a file while it is sent.
  ///
  /// Without `secret=true` it authorizes no client but the programs whose keys the server has.
  func exportArchive(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPResponse {
    let includesSecret = try ControlQuery(head.query, knowing: ["secret"]).flag("secret")
    var archive = HTTPBody(usesFile: true)
    do {
      var piece: [UInt8] = []
      try server.exportArchive(includesSecret: includesSecret) { line in
        piece += line.utf8
        guard piece.count >= ControlRoutes.pieceBytes else { return }
        try archive.append(piece)
        piece.removeAll(keepingCapacity: true)
      }
      try archive.append(piece)
    } catch let refusal as HTTPRefusal {
      throw refusal
    } catch {
      throw ControlRoutes.refusal(
        error as? CloudError ?? CloudError(.internalError, "the export failed: \(error)"))
    }
    var response = HTTPResponse(
      200, type: "text/plain; charset=utf-8",
      fields: [
        .init(
          name: "content-disposition", value: "attachment; filename=\"cloudsync-archive.jsonl\"")
      ])
    response.file = try archive.content()
    return response
  }

  /// The size from which a piece of an archive is written, in bytes.
  private static let pieceBytes = 65_536

  /// Imports an archive into the server, which must be empty; returns the new object counts.
  ///
  /// With `newIdentity=true` change tokens of the archive's server are not valid here.
  func importArchive(_ request: HTTPRequest) throws(HTTPRefusal) -> JSON {
    let isNew = try ControlQuery(request.head.query, knowing: ["newIdentity"]).flag("newIdentity")
    do throws(CloudError) {
      try server.importArchive(Data(request.body), keepsIdentity: !isNew)
    } catch {
      // A server with data is no mistake of the archive.
      let status = Notation.errorCode(for: error.code).status
      throw HTTPRefusal(error.code == .serverRejectedRequest ? 409 : status, error.message)
    }
    return try holdings()
  }

  /// Empties the server; returns the new object counts.
  func reset(_ body: [UInt8]) throws(HTTPRefusal) -> JSON {
    try ControlArguments(body).finish()
    try ask { () throws(CloudError) in try server.reset() }
    return try holdings()
  }

  private func holdings() throws(HTTPRefusal) -> JSON {
    let accounts = try people().count
    let databases = try ask { () throws(CloudError) in try server.databases().count }
    return .members(["accounts": .integer(accounts), "databases": .integer(databases)])
  }
}
