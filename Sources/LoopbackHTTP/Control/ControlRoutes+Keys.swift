import CloudProtocol
import LoopbackServer
import WebServices

/// The keys of programs that sign their requests.
extension ControlRoutes {
  private var serverKeys: ServerKeys { ServerKeys(server: server) }

  /// All keys.
  func keys() throws(HTTPRefusal) -> JSON {
    let keys = try ask { () throws(CloudError) in try serverKeys.list() }
    return .members([
      "keys": .array(
        keys.map {
          .members([
            "keyID": .string($0.id), "name": .string($0.name),
            "userRecordName": .string($0.user.rawValue),
          ])
        })
    ])
  }

  /// Adds the key in `publicKey`, or removes the one in `remove`.
  func changeKeys(_ body: [UInt8]) throws(HTTPRefusal) {
    var arguments = try ControlArguments(body)
    if let id = try arguments.optionalText("remove") {
      try arguments.finish()
      try ask { () throws(CloudError) in try serverKeys.remove(id) }
    } else {
      let pem = try arguments.text("publicKey")
      let name = try arguments.optionalText("name")
      try arguments.finish()
      _ = try ask { () throws(CloudError) in try serverKeys.add(pem, name: name) }
    }
  }
}
