import CloudProtocol
import Records

/// Something that answers calls as the cloud does.
protocol Cloud: Sendable {
  /// Sends `call` from `device`.
  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError>

  /// Does what an administrator can do in the private database of `account`, and says what was
  /// seen.
  func administer(_ act: Act, container: String, account: String) async throws -> String

  /// The pushes about `container` that devices got since this was last asked.
  func takeDeliveries(container: String) async -> [Delivery]
}

/// A device that sends requests.
struct Device: Hashable, Sendable {
  let name: String
  /// The account that is signed in; empty for none.
  let account: String

  static let all = [
    Device(name: "phone", account: "alice"), Device(name: "tablet", account: "alice"),
    Device(name: "other", account: "bob"), Device(name: "desk", account: "bob"), guest,
  ]

  /// A device without an account.
  static let guest = Device(name: "guest", account: "")

  static let accounts = ["alice", "bob"]

  /// The name in place of an owner of the public database.
  static let publicHome = "everyone"
}

/// A push that a device got.
struct Delivery: Hashable, Sendable {
  let device: String
  let push: CloudPush
}

/// An action of an administrator.
enum Act: Hashable, Sendable {
  case end(ZoneID, ZoneDeletionReason)
  case expireTokens(ZoneID?)
  case trim(ZoneID?)
  /// Lets the account hold so many bytes more than it does; `nil` sets no bound.
  case quota(spare: Int?)
}

/// The limits all clouds run with: small enough to be reached.
enum Limits {
  static let items = 8
  static let zonePage = 4
  static let databasePage = 3
  static let assetBytes = 40
}
