import CloudProtocol
import CloudSync
import Foundation
import Records
import StateInspection
import SyncMachine
import Testing

@testable import SimulationSupport

@Suite("State inspection: damaged files")
struct StateInspectionDamageTests {
  /// A state, or an error in one sentence or more; anything else ends the process.
  private static func outcome(_ bytes: [UInt8]) -> Result<StateInspection, StateInspectionError> {
    do throws(StateInspectionError) {
      let inspection = try StateInspection(bytes: bytes, name: "F")
      return .success(inspection)
    } catch {
      if let readable = error.readable { _ = readable.text() + readable.json }
      return .failure(error)
    }
  }

  /// Proves I20.
  @Test("Every truncation and flipped bit of every form gives the right state or an error")
  func damagedStateIsNeverShownWrong() throws {
    for (form, bytes) in try StateSamples.files() {
      let whole = try StateInspection(bytes: bytes, name: "F")
      var states: Set<SyncState> = []
      for index in bytes.indices {
        var results = [StateInspectionDamageTests.outcome(Array(bytes[..<index]))]
        for bit in 0..<8 {
          var damaged = bytes
          damaged[index] ^= 1 << UInt8(bit)
          results.append(StateInspectionDamageTests.outcome(damaged))
        }
        for result in results {
          switch result {
          case .success(let inspection): states.insert(inspection.state)
          case .failure(let error):
            if !error.message.contains("F") || !error.message.hasSuffix(".") {
              Issue.record("\(form), byte \(index): \(error.message)")
            }
          }
        }
      }
      #expect(states.isSubset(of: try StateInspectionDamageTests.allowed(whole, form)), "\(form)")
      #expect(states.count > 1 || form != "log", "a log cut between two entries opens")
    }
  }

  /// A log may have lost its last entries; nothing else may show anything but the state.
  private static func allowed(_ whole: StateInspection, _ form: String) throws -> Set<SyncState> {
    guard form == "log" else { return [whole.state] }
    // The log adds to the small state what the other forms hold.
    let files = try StateSamples.files()
    let snapshot = try StateInspection(bytes: files[1].bytes).state
    var between = whole.state
    between.databaseToken = nil
    return [snapshot, between, whole.state]
  }

  /// Proves I23.
  @Test("None of 5,000 random inputs traps, half of them with a valid beginning")
  func randomStateInputsNeverTrap() throws {
    var generator = SeededRandom(seed: 2_026)
    let starts = [
      "", "CSYNC\u{1}", "CSLOG\u{1}", "bplist00", "{\"a\":[", "<plist><dict>", "Q1NZTkM",
    ]
    let alphabet = Array("{}[]\",:\\u0041 <>/=key&data;array-.eQ1NZTkM".utf8)
    var isShown = 0
    for number in 0..<5_000 {
      var bytes = Array(starts[number % 2 == 0 ? 0 : number / 2 % starts.count].utf8)
      let isText = number % 3 == 0
      for _ in 0..<Int(generator.next() % 300) {
        let next = generator.next()
        bytes.append(
          isText ? alphabet[Int(next % UInt64(alphabet.count))] : UInt8(truncatingIfNeeded: next))
      }
      if case .success = StateInspectionDamageTests.outcome(bytes) { isShown += 1 }
    }
    #expect(isShown == 0)
  }

  @Test("Random damage inside an app's file never traps and never shows a wrong state")
  func randomDamageShowsNoWrongState() throws {
    var generator = SeededRandom(seed: 7)
    for (form, bytes) in try StateSamples.files() where form != "log" {
      let whole = try StateInspection(bytes: bytes)
      for _ in 0..<1_000 {
        var damaged = bytes
        for _ in 0...(generator.next() % 4) {
          let index = Int(generator.next() % UInt64(damaged.count))
          switch generator.next() % 3 {
          case 0: damaged[index] = UInt8(truncatingIfNeeded: generator.next())
          case 1: damaged.remove(at: index)
          default: damaged.insert(damaged[Int(generator.next() % 8)], at: index)
          }
        }
        if case .success(let inspection) = StateInspectionDamageTests.outcome(damaged),
          inspection.state != whole.state
        {
          Issue.record("\(form): \(damaged)")
        }
      }
    }
  }

  @Test("The error message names the fault, what can still be read and what to do")
  func errorMessageExplainsDamage() throws {
    let rows =
      try StateInspectionDamageTests.faults() + StateInspectionDamageTests.carriedFaults()
      + StateInspectionDamageTests.logFaults()
    for row in rows {
      switch StateInspectionDamageTests.outcome(row.bytes) {
      case .success: Issue.record("no error: \(row.message)")
      case .failure(let error):
        #expect(error.message == row.message)
        #expect(error.code == row.code)
      }
    }
  }

  @Test("A log with entries that are foreign or of a newer version is shown up to the first one")
  func unknownLogEntriesEndDisplay() throws {
    try StateSamples.inFolder { folder in
      let file = folder.appendingPathComponent("state")
      let store = try FileStateStore(url: file)
      try store.replace(with: StateSamples.state.encoded())
      try store.append(StateChange.encoded([.addRecord(StateSamples.save("n5"))]))
      try store.append([1, 99])
      let error = #expect(throws: StateInspectionError.self) {
        try StateInspection(path: file.path)
      }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("number 2 behind the snapshot") == true)
      #expect(error?.readable?.state.records.count == 5)
      try store.replace(with: [1, 2, 3])
      let foreign = #expect(throws: StateInspectionError.self) {
        try StateInspection(path: file.path)
      }
      #expect(foreign?.code == .foreign)
    }
  }

  @Test("Endless nesting does not trap")
  func endlessNestingDoesNotTrap() {
    let depth = 200_000
    for bytes in [
      [UInt8](repeating: UInt8(ascii: "["), count: depth),
      Array((String(repeating: "{\"a\":", count: depth) + "1").utf8),
      Array(("<plist>" + String(repeating: "<array>", count: depth)).utf8),
      Array(("<plist>" + String(repeating: "<dict><key>a</key>", count: depth)).utf8),
    ] {
      guard case .failure(let error) = StateInspectionDamageTests.outcome(bytes) else {
        Issue.record("shown")
        continue
      }
      #expect(error.code == .foreign)
    }
  }

  private typealias Fault = (
    bytes: [UInt8], code: StateInspectionError.Code, message: String
  )

  private static let all =
    "the account, 4 pending record changes, 1 pending database change, 2 zone tokens."
  private static let start =
    "Restore it from a backup, or let the engine start over without it."

  private static func faults() throws -> [Fault] {
    let blob = StateSamples.state.encoded()
    let none = "the account, 0 pending record changes, 0 pending database changes, 0 zone tokens."
    return [
      (
        Array("hello".utf8), .foreign,
        "F holds no sync state: no state log, and no encoded CKSyncEngine state. Give the file of "
          + "the state store, or what the app saved of the latest stateUpdate event."
      ),
      (
        Array("{\"a\":".utf8), .foreign,
        "F holds no sync state: no state log, and no encoded CKSyncEngine state, and it is "
          + "damaged, as JSON: it ends early at byte 5. Give the file of the state store, or what "
          + "the app saved of the latest stateUpdate event."
      ),
      (
        changed(blob, 5, to: 3), .future,
        "The state in F has format 3, this version reads 2. Use a newer version of this tool."
      ),
      (
        blob.dropLast(), .damaged,
        "F holds a damaged state: a length runs past the end at byte 248. Still readable, and "
          + "maybe wrong: \(all) \(start)"
      ),
      (
        Array(blob.prefix(12)), .damaged,
        "F holds a damaged state: a count is larger than the data at byte 8. Still readable, and "
          + "maybe wrong: \(none) \(start)"
      ),
      (
        [1] + blob, .damaged, "F begins like no state. Still readable: \(all) \(start)"
      ),
    ]
  }

  private static func carriedFaults() throws -> [Fault] {
    let value = try StateSamples.serialization(StateSamples.state)
    let json = try StateSamples.json(value)
    let list = try StateSamples.xml(value, binary: true)
    return [
      (
        Array(json.dropLast()), .damaged,
        "F is damaged, as JSON: an object is incomplete at byte \(json.count - 1), so that an app "
          + "will not open it. Still readable: \(all) \(start)"
      ),
      (
        Array(list.dropLast(33)), .damaged,
        "F is damaged, as a binary property list: its table of contents is damaged. Still "
          + "readable: \(all) \(start)"
      ),
      (
        Array("?".utf8) + json.dropFirst(), .damaged,
        "F begins like no state. Still readable: \(all) \(start)"
      ),
      (
        Array("[0, ?, ".utf8) + json, .damaged,
        "F is damaged, as JSON: there is no value at byte 4. Still readable: \(all) \(start)"
      ),
    ]
  }

  private static func logFaults() throws -> [Fault] {
    let log = try StateSamples.log(StateSamples.state)
    let move = "Restore it from a backup, or move it away to start over."
    return [
      (
        changed(log, 5, to: 2), .future,
        "The state log F has a format that is newer than 1, which this version reads. Use a newer "
          + "version of this tool."
      ),
      (
        changed(log, log.count - 40, to: 0xff), .damaged,
        "The state log F is damaged at byte 271, and 87 bytes from there on can't be used. Still "
          + "readable: \(all) \(move)"
      ),
      (
        Array(log.prefix(80)), .damaged,
        "The state log F has no whole snapshot. Still readable, and maybe wrong: "
          + "the account, 0 pending record changes, 0 pending database changes, 1 zone token. "
          + move
      ),
      (
        Array(log.prefix(6)), .damaged,
        "The state log F has no whole snapshot. None of its content can be read. \(move)"
      ),
    ]
  }

  private static func changed(_ bytes: [UInt8], _ index: Int, to value: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[index] = value
    return bytes
  }
}
