import Foundation
import Records
import StateInspection
import SyncMachine

@testable import CloudSync

extension FuzzTarget {
  /// The log of a state store.
  static let stateLog = FuzzTarget(name: "state-log") { input, planted in
    var input = input
    guard input.choice(4) > 0 else {
      let bytes = input.rest
      let reading = LogFormat.read(bytes, path: "")
      try check((0...bytes.count).contains(reading.length), "more whole bytes than there are")
      let whole = LogFormat.read(Array(bytes.prefix(reading.length)), path: "")
      try check(
        whole.contents == reading.contents && (whole.fault == nil || reading.length == 0),
        "whole bytes that hold something else")
      return
    }
    let damage = input.choice(4)
    let place = Int(input.byte()) << 8 | Int(input.byte())
    // After each record: how long the log is, and what it holds.
    var log = LogFormat.header
    var states = [(length: log.count, contents: StateStoreContents())]
    while !input.bytes.isEmpty, states.count < 16 {
      let isSnapshot = input.byte() & 3 == 0
      let content = input.run()
      try plant(planted && states.count == 3, content)
      log += LogFormat.record(isSnapshot ? .snapshot : .entry, content)
      var contents = states[states.count - 1].contents
      if isSnapshot {
        contents = StateStoreContents(snapshot: content)
      } else {
        contents.entries.append(content)
      }
      states.append((log.count, contents))
    }
    switch damage {
    case 0:
      let reading = try LogFormat.parse(log, path: "")
      try check(reading.contents == states[states.count - 1].contents, "not what was written")
      try check(reading.length == log.count, "a whole log that is cut off")
    case 1:
      let cut = place % (log.count + 1)
      let reading = try LogFormat.parse(Array(log.prefix(cut)), path: "")
      let left = states.last { $0.length <= cut }
      try check(reading.contents == left?.contents ?? StateStoreContents(), "a cut that is seen")
    default:
      let bit = place % (log.count * 8)
      log[bit / 8] ^= 1 << UInt8(bit % 8)
      let reading = LogFormat.read(log, path: "")
      let before = states.last { $0.length <= bit / 8 }
      try check(
        reading.contents == before?.contents ?? StateStoreContents(), "a bit that changed unseen")
    }
  }

  /// The state's own bytes, and its steps.
  static let state = FuzzTarget(name: "state") { input, planted in
    var input = input
    let kind = input.choice(16)
    let bit = Int(input.byte()) << 8 | Int(input.byte())
    let bytes = input.rest
    if kind < 8 {
      try examine(steps: bytes, planted)
      return
    }
    if kind == 8 {
      _ = SyncState(recovering: bytes)
      _ = SyncState(recovering: sealed(bytes))
      return
    }
    let blob = kind == 9 ? bytes : sealed(bytes, format: kind == 15 ? 2 : 1)
    guard let state = try? SyncState(decoding: blob) else { return }
    try plant(planted, (state.subscription?.rawValue ?? "").utf8)
    var encoded = state.encoded()
    try check(try SyncState(decoding: encoded) == state, "another state when written and read")
    try check(try SyncState(decoding: encoded).encoded() == encoded, "a state with two forms")
    try check(SyncState(recovering: encoded) == state, "a whole state that is salvaged in part")
    if kind == 10 { try examineArchive(of: state) }
    encoded[bit / 8 % encoded.count] ^= 1 << UInt8(bit % 8)
    try check((try? SyncState(decoding: encoded)) == nil, "a bit that changed unseen")
  }

  private static func examine(steps bytes: [UInt8], _ planted: Bool) throws {
    guard let steps = try? StateChange.decoded(bytes) else { return }
    let encoded = StateChange.encoded(steps)
    try check(encoded == bytes, "steps that are accepted and not written")
    if case .setUser(let user?)? = steps.last { try plant(planted, user.rawValue.utf8) }
    var state = SyncState()
    for step in steps { state.apply(step) }
    let blob = state.encoded()
    try check(try SyncState(decoding: blob) == state, "a state that can't be kept")
    try check(try SyncState(decoding: blob).encoded() == blob, "a state with two forms")
  }

  /// The state as an app keeps it: what the engine hands out, through an encoder of Foundation's.
  private static func examineArchive(of state: SyncState) throws {
    let serialization = CKSyncEngine.State.Serialization(state)
    let data = try JSONEncoder().encode(serialization)
    let again = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
    try check(again.value == state, "another state when an app keeps it")
    try check(serialization.readableJSON.utf8.count > 2, "a state that can't be shown")
  }

  /// A blob of the right form around `payload`.
  private static func sealed(_ payload: [UInt8], format: UInt8 = 1) -> [UInt8] {
    var writer = ByteWriter(capacity: payload.count + 24)
    writer.write(raw: Array("CSYNC".utf8))
    writer.write(format)
    writer.write(payload)
    writer.write(fixed: Checksum.of(writer.bytes))
    return writer.bytes
  }

  /// Any file that may hold a state.
  static let inspection = FuzzTarget(name: "inspection") { input, planted in
    var bytes = input.rest
    // No file of a state starts with 0: there, a checksum is put behind what the input says.
    if bytes.first == 0 { bytes = sealed(Array(bytes.dropFirst())) }
    let readable: StateInspection
    do throws(StateInspectionError) {
      readable = try StateInspection(bytes: bytes)
    } catch {
      try check(!error.message.isEmpty, "an error without a word")
      guard let part = error.readable else { return }
      _ = part.text()
      return
    }
    _ = readable.text()
    try check(try StateInspection(bytes: bytes) == readable, "a file that reads in two ways")
    let encoded = readable.state.encoded()
    try check(try SyncState(decoding: encoded) == readable.state, "a state that can't be kept")
    let state = readable.state
    let zones = state.zoneTokens.keys + state.zones.unsettled.map(\.id)
    let names = zones.map(\.name) + state.records.unsettled.map(\.id.name)
    for name in names + [state.user?.rawValue ?? ""] { try plant(planted, name.utf8) }
  }
}
