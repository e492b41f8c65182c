import Records
import SyncMachine

/// What can be had of a file that can't be read as what it should be.
struct Salvage {
  private let bytes: [UInt8]
  private let name: String

  init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  /// The first state in the file that is whole.
  var whole: StateInspection? {
    for start in starts {
      var reader = ByteReader(bytes[start...])
      let content = try? Salvage.content(of: &reader)
      guard content != nil else { continue }
      let blob = Array(bytes[start..<(start + reader.offset)])
      if let state = try? SyncState(decoding: blob) { return inspection(state) }
    }
    return nil
  }

  /// The first state in the file, whole or not.
  var any: StateInspection? {
    if let whole { return whole }
    for start in starts {
      if let state = SyncState(salvaging: Array(bytes[start...])) {
        return inspection(state, isUnchecked: true)
      }
    }
    return nil
  }

  /// One sentence on what is readable.
  static func summary(of readable: StateInspection?) -> String {
    guard let readable else { return "Nothing of it can be read." }
    let state = readable.state
    let parts = [
      PrintedName.count(state.records.count, "pending record change", "pending record changes"),
      PrintedName.count(state.zones.count, "pending database change", "pending database changes"),
      PrintedName.count(state.zoneTokens.count, "zone token", "zone tokens"),
    ]
    let account = state.user == nil ? "no account" : "the account"
    return "Still readable\(readable.isUnchecked ? ", and maybe wrong" : ""): \(account), "
      + "\(parts.joined(separator: ", "))."
  }

  /// Where a state may begin.
  private var starts: [Int] {
    let magic = StateReading.stateMagic
    var starts: [Int] = []
    var position = 0
    while let next = bytes[position...].firstIndex(of: magic[0]), starts.count < 1_000 {
      if bytes[next...].starts(with: magic) { starts.append(next) }
      position = next + 1
    }
    return starts
  }

  /// Goes over a state from its first byte to its last.
  private static func content(
    of reader: inout ByteReader
  ) throws(ByteFormatError) -> ArraySlice<UInt8> {
    _ = try reader.raw(StateReading.stateMagic.count + 1)
    let content = try reader.raw(try reader.count())
    _ = try reader.fixed32()
    return content
  }

  private func inspection(_ state: SyncState, isUnchecked: Bool = false) -> StateInspection {
    StateInspection(
      name: name, byteCount: bytes.count, form: .encoded(carriers: [], place: ""), state: state,
      isUnchecked: isUnchecked)
  }
}
