import Foundation
import Records
import Synchronization

extension CKRecord {
  private static let recordKey = "CloudSyncRecord"
  private static let systemFieldsKey = "CloudSyncSystemFields"

  func encodeSystemState(with coder: NSCoder) {
    let (whole, isParentChanged) = state.withLock { ($0.record, $0.isParentChanged) }
    var record = whole
    record.fields = Fields()
    ArchivedBytes.encode(CKRecord.systemFieldsKey, with: coder) { [record] writer in
      writer.write(false)
      writer.write(record)
      if isParentChanged { writer.write(true) }
    }
  }

  func encodeState(with coder: NSCoder) {
    let state = state.withLock { $0 }
    ArchivedBytes.encode(CKRecord.recordKey, with: coder) { writer in
      writer.write(true)
      writer.write(state.record)
      // An archive can't hold the value, and a touched field without one would be cleared.
      let changedKeys = state.changedKeys.subtracting(state.oversized.keys)
      writer.write(list: changedKeys.sorted()) { $0.write($1) }
      writer.write(state.isParentChanged)
      writer.write(optional: state.base) { $0.write($1) }
    }
  }

  static func decodeState(with coder: NSCoder) -> State? {
    AppleArchive.tolerateDamage(coder)
    return decodeOwnState(with: coder) ?? State(appleArchive: coder)
  }

  private static func decodeOwnState(with coder: NSCoder) -> State? {
    // A coder without keys has one place only, so the bytes themselves say which form they are.
    let isWhole = !coder.allowsKeyedCoding || ArchivedBytes.holds(recordKey, in: coder)
    let key = isWhole ? recordKey : systemFieldsKey
    return ArchivedBytes.decode(key, with: coder, state)
  }

  private static func state(_ reader: inout ByteReader) throws(ByteFormatError) -> State {
    guard try reader.bool() else {
      let record = try reader.record()
      var state = State(record: record, base: record.changeTag.map { _ in Fields() })
      guard !reader.isAtEnd else { return state }
      // The parent is a system field: one that was not saved yet is saved with the decoded record.
      guard try reader.bool() else { throw reader.fault("the mark of a new parent is damaged") }
      state.isParentChanged = true
      return state
    }
    var state = State(record: try reader.record())
    state.changedKeys = Set(
      try reader.list { (reader) throws(ByteFormatError) in try reader.string() })
    state.isParentChanged = try reader.bool()
    state.base = try reader.optional { (reader) throws(ByteFormatError) in try reader.fields() }
    return state
  }
}
