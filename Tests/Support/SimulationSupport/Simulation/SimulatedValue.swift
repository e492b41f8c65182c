import CloudProtocol
import Records

/// What a simulated record holds: it says itself who wrote it, where and when, so that a value
/// in the wrong place shows without an oracle.
struct SimulatedValue: Hashable, Sendable {
  /// The account it was written for, counted from 1; 0 without an account.
  var account: Int
  /// The device it was written on.
  var device: Int
  /// Counts all edits of the world; larger is later.
  var sequence: Int
  /// The place it was written to.
  var place: Int

  static let recordType = "Note"

  private var checksum: Int64 {
    var hash = TraceHash()
    hash.mix(account)
    hash.mix(device)
    hash.mix(sequence)
    hash.mix(place)
    return Int64(bitPattern: hash.value)
  }

  /// The fields of a record with this value.
  var changes: [RecordSave.Change] {
    [
      RecordSave.Change(key: "account", field: Field(.int64(Int64(account)))),
      RecordSave.Change(key: "check", field: Field(.int64(checksum))),
      RecordSave.Change(key: "device", field: Field(.int64(Int64(device)))),
      RecordSave.Change(key: "sequence", field: Field(.int64(Int64(sequence)))),
    ]
  }

  init(account: Int, device: Int, sequence: Int, place: Int) {
    self.account = account
    self.device = device
    self.sequence = sequence
    self.place = place
  }

  /// The value of `record` at `place`; `nil` when it was never written so.
  init?(_ record: Record, at place: Int) {
    guard let account = Self.number("account", record.fields),
      let device = Self.number("device", record.fields),
      let sequence = Self.number("sequence", record.fields),
      let check = Self.number("check", record.fields)
    else { return nil }
    self.init(account: account, device: device, sequence: sequence, place: place)
    guard checksum == Int64(check), record.fields.count == 4 else { return nil }
  }

  private static func number(_ key: String, _ fields: Fields) -> Int? {
    guard case .int64(let number) = fields[key]?.value else { return nil }
    return Int(number)
  }
}
