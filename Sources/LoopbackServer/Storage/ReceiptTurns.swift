import CloudMachine
import Records

/// Decides when a storage removes the receipts of a user above `Receipt.mostOfUser(keeping:)`.
///
/// Counting a user's receipts takes longer than storing one. So they are counted with the user's
/// first receipt after the storage was opened, and then with each 64th.
struct ReceiptTurns {
  private var counts: [UserID: Int] = [:]

  /// The maximum number of users whose receipts are counted; then all of them begin again.
  private static let mostUsers = 10_000

  /// Notes a receipt, and returns how many receipts of its user remain; `nil` to remove none.
  mutating func take(_ receipt: Receipt, keeping: Int) -> Int64? {
    let most = Receipt.mostOfUser(keeping: keeping)
    guard most < .max else { return nil }
    let user = receipt.key.user
    if counts.count >= Self.mostUsers, counts[user] == nil { counts = [:] }
    defer { counts[user, default: 0] += 1 }
    return counts[user, default: 0].isMultiple(of: 64) ? Int64(most) : nil
  }
}
