import Records
import SyncMachine

/// Recovers readable parts of a damaged file or of a file in an unexpected format.
struct StateRecovery {
  /// The first characters of a state in base64.
  private static let textMagic = Array("Q1NZTk".utf8)
  /// The maximum number of states to look for in a file.
  private static let most = 16

  private let bytes: [UInt8]
  private let name: String

  init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  /// The first intact state in the file.
  var whole: StateInspection? {
    for blob in blobs {
      var reader = ByteReader(blob)
      let content = try? StateRecovery.content(of: &reader)
      guard content != nil else { continue }
      let end = blob.startIndex + reader.offset
      if let state = try? SyncState(decoding: Array(blob[..<end])) { return inspection(state) }
    }
    return nil
  }

  /// The first state in the file, intact or not.
  var any: StateInspection? {
    if let whole { return whole }
    for blob in blobs {
      if let state = SyncState(recovering: Array(blob)) {
        return inspection(state, isUnchecked: true)
      }
    }
    return nil
  }

  /// A sentence that summarizes the readable parts.
  static func summary(of readable: StateInspection?) -> String {
    guard let readable else { return "None of its content can be read." }
    let state = readable.state
    let parts = [
      TerminalText.count(state.records.count, "pending record change", "pending record changes"),
      TerminalText.count(state.zones.count, "pending database change", "pending database changes"),
      TerminalText.count(state.zoneTokens.count, "zone token", "zone tokens"),
    ]
    let account = state.user == nil ? "no account" : "the account"
    return "Still readable\(readable.isUnchecked ? ", and maybe wrong" : ""): \(account), "
      + "\(parts.joined(separator: ", "))."
  }

  /// Byte sequences that begin like a state, raw or as base64.
  private var blobs: [ArraySlice<UInt8>] {
    let texts = starts(with: StateRecovery.textMagic).map { start in
      // JSON puts a backslash in front of a slash.
      Base64Text.decode(bytes[start...].lazy.filter { $0 != UInt8(ascii: "\\") }).bytes[...]
    }
    return starts(with: StateReading.stateMagic).map { bytes[$0...] } + texts
  }

  private func starts(with magic: [UInt8]) -> [Int] {
    var starts: [Int] = []
    var position = 0
    while starts.count < StateRecovery.most,
      let next = bytes[position...].firstIndex(of: magic[0])
    {
      if bytes[next...].starts(with: magic) { starts.append(next) }
      position = next + 1
    }
    return starts
  }

  /// Skips a state from its first byte to its last.
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
      name: name, byteCount: bytes.count, form: .encoded(formats: [], place: ""), state: state,
      isUnchecked: isUnchecked)
  }
}
