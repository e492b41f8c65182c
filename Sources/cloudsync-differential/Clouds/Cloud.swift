import CloudProtocol
import Records

/// Something that answers calls as the cloud does.
protocol Cloud: Sendable {
  /// Sends `call` from `device`.
  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError>

  /// Does what an administrator can do in the private database of `account`.
  func administer(_ act: Act, container: String, account: String) async throws
}

/// Who asks.
struct Device: Hashable, Sendable {
  let name: String
  let account: String

  static let all = [
    Device(name: "phone", account: "alice"), Device(name: "tablet", account: "alice"),
    Device(name: "other", account: "bob"),
  ]

  static let accounts = ["alice", "bob"]
}

/// What an administrator can do.
enum Act: Hashable, Sendable {
  case end(ZoneID, ZoneDeletionReason)
  case expireTokens(ZoneID?)
  case trim(ZoneID?)
}

/// The limits all clouds run with: small enough to be reached.
enum Limits {
  static let items = 8
  static let zonePage = 4
  static let databasePage = 3
}
