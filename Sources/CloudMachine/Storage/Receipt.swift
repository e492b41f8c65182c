public import CloudProtocol
public import Records

/// The key of a receipt: one request of one device.
public struct ReceiptKey: Hashable, Sendable, Codable {
  /// The account of the request.
  public var user: UserID
  /// The device that sent the request.
  public var device: String
  /// The ID that the device gave the request.
  public var requestID: String

  /// Creates a key.
  public init(user: UserID, device: String, requestID: String) {
    self.user = user
    self.device = device
    self.requestID = requestID
  }
}

/// The stored reply to a mutation, used to answer a repeated request.
public struct Receipt: Hashable, Sendable, Codable {
  /// The request.
  public var key: ReceiptKey
  /// The answer, perhaps without fields of records that a repeated request contains again.
  public var reply: CloudReply
  /// Data that the server compares with a repeated request; a storage returns it unchanged.
  ///
  /// `nil` in a receipt of an earlier version, which did not store it.
  public var digest: [UInt8]?

  /// The number of the latest receipts of a user, on all devices together, that a storage keeps if
  /// it keeps `keeping` of each device: 16 times as many.
  ///
  /// A device that never comes back would keep its receipts for ever.
  public static func mostOfUser(keeping: Int) -> Int {
    let (most, isOver) = max(0, keeping).multipliedReportingOverflow(by: 16)
    return isOver ? .max : most
  }

  /// Creates a receipt.
  public init(key: ReceiptKey, reply: CloudReply, digest: [UInt8]? = nil) {
    self.key = key
    self.reply = reply
    self.digest = digest
  }
}
