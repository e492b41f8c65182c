import CloudProtocol
import CloudSync
import Foundation
import Records
import StateInspection
import SyncMachine
import Testing

@Suite("State inspection: what a saved state shows")
struct StateInspectionTests {
  /// Proves CE-87.
  @Test("A state log is shown from its file, which stays unchanged and without other files")
  func stateLogIsShownWithoutChanges() throws {
    try StateSamples.inFolder { folder in
      let file = folder.appendingPathComponent("state")
      let bytes = try StateSamples.log(StateSamples.state) + [9, 0, 0]
      try Data(bytes).write(to: file)
      let inspection = try StateInspection(path: file.path)
      #expect(
        inspection.text(limit: 2)
          == file.path + StateInspectionTests.logText)
      #expect(try [UInt8](Data(contentsOf: file)) == bytes)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
    }
  }

  static let logText = """
    : state log, 361 bytes, format 1
      a snapshot of 252 bytes in format 1, then 2 entries with 3 steps
      the last 3 bytes are unfinished: cut off by a crash, or being written now; an engine takes no \
    account of them

    pending record zone changes   4 (3 saves, 1 deletion)
    pending database changes      1 (0 saves, 1 deletion)
    pending untracked changes     yes
    zone tokens                   2
    zones with unfetched changes  1
    zones to read from the start  1

    account                   _a
    database token            1 byte 40
    subscription              changes
    fetches before next send  yes

    zone tokens (2)
      Notes              12 bytes 000102030405060708090a0b
      _owner/"My Lists"  40 bytes 0001020304050607..2021222324252627

    zones with unfetched changes (1)
      Inbox

    zones to read from the start (1)
      _owner/"My Lists"

    pending database changes (1)
      delete  Old

    pending record zone changes (4)
      save  Notes/"a/b"
      save  Notes/"é\\u{1b}[1m"
      ... and 2 more

    """

  @Test("An encoded state is shown with every list complete")
  func encodedStateIsShownCompletely() throws {
    let value = try StateSamples.serialization(StateSamples.state)
    let inspection = try StateInspection(
      bytes: StateSamples.json(StateSamples.AppFile(engines: ["private": value])), name: "app.json")
    #expect(inspection.text() == StateInspectionTests.encodedText)
  }

  static let encodedText = """
    app.json: encoded state, 436 bytes, format 1
      in JSON, at engines.private.data

    pending record zone changes   4 (3 saves, 1 deletion)
    pending database changes      1 (0 saves, 1 deletion)
    pending untracked changes     yes
    zone tokens                   2
    zones with unfetched changes  1
    zones to read from the start  1

    account                   _a
    database token            2 bytes 3f01
    subscription              changes
    fetches before next send  yes

    zone tokens (2)
      Notes              12 bytes 000102030405060708090a0b
      _owner/"My Lists"  40 bytes 0001020304050607..2021222324252627

    zones with unfetched changes (1)
      Inbox

    zones to read from the start (1)
      _owner/"My Lists"

    pending database changes (1)
      delete  Old

    pending record zone changes (4)
      save    Notes/n1
      save    Notes/"a/b"
      save    Notes/"é\\u{1b}[1m"
      delete  _owner/"My Lists"/n4

    """

  @Test("The JSON of a state gives every value in words and is always the same")
  func stateJSONIsReadableAndStable() throws {
    let bytes = StateSamples.state.encoded()
    let inspection = try StateInspection(bytes: bytes)
    #expect(inspection.json == StateInspectionTests.jsonText)
    let again = try StateInspection(bytes: bytes, name: "another")
    #expect(again.json == inspection.json)
  }

  static let jsonText = """
    {
      "account" : {
        "appHasBeenTold" : true,
        "user" : "_a"
      },
      "counts" : {
        "pendingDatabaseChanges" : 1,
        "pendingRecordDeletions" : 1,
        "pendingRecordSaves" : 3,
        "pendingRecordZoneChanges" : 4,
        "zoneTokens" : 2,
        "zonesStartingOver" : 1,
        "zonesWithUnfetchedChanges" : 1
      },
      "databaseToken" : {
        "bytes" : 2,
        "hex" : "3f01"
      },
      "fetchesBeforeNextSend" : true,
      "file" : {
        "bytes" : 252,
        "kind" : "encoded"
      },
      "formatVersion" : 1,
      "hasPendingUntrackedChanges" : true,
      "pendingDatabaseChanges" : [
        {
          "change" : "delete",
          "zone" : "Old"
        }
      ],
      "pendingRecordZoneChanges" : [
        {
          "change" : "save",
          "record" : "n1",
          "zone" : "Notes"
        },
        {
          "change" : "save",
          "record" : "a/b",
          "zone" : "Notes"
        },
        {
          "change" : "save",
          "record" : "é\\u001b[1m",
          "zone" : "Notes"
        },
        {
          "change" : "delete",
          "owner" : "_owner",
          "record" : "n4",
          "zone" : "My Lists"
        }
      ],
      "subscription" : "changes",
      "zoneTokens" : [
        {
          "token" : {
            "bytes" : 12,
            "hex" : "000102030405060708090a0b"
          },
          "zone" : "Notes"
        },
        {
          "owner" : "_owner",
          "token" : {
            "bytes" : 40,
            "hex" : "000102030405060708090a0b0c0d0e0f10\
    1112131415161718191a1b1c1d1e1f2021222324252627"
          },
          "zone" : "My Lists"
        }
      ],
      "zonesStartingOver" : [
        {
          "owner" : "_owner",
          "zone" : "My Lists"
        }
      ],
      "zonesWithUnfetchedChanges" : [
        {
          "zone" : "Inbox"
        }
      ]
    }
    """

  @Test("Every form of file shows the same state and where in the file it is")
  func everyFileFormShowsSameState() throws {
    let wanted: [String: StateInspection.Form] = [
      "bytes": .encoded(formats: [], place: ""),
      "JSON": .encoded(formats: ["JSON"], place: "data"),
      "numbers in JSON": .encoded(formats: ["JSON"], place: "0.data"),
      "binary property list": .encoded(formats: ["a binary property list"], place: "data"),
      "property list": .encoded(formats: ["a property list"], place: "data"),
      "base64": .encoded(formats: ["base64"], place: ""),
      "JSON in a property list": .encoded(
        formats: ["a binary property list", "JSON"], place: "state.data"),
    ]
    let files = try StateSamples.files()
    let whole = try StateInspection(bytes: files[1].bytes)
    for (form, bytes) in files where form != "log" {
      let inspection = try StateInspection(bytes: bytes, name: form)
      #expect(inspection.state == whole.state, "\(form)")
      #expect(inspection.form == wanted[form])
    }
    #expect(files.count == wanted.count + 1)
  }

  @Test("One of several states in a file is selected by its member")
  func memberSelectsOneOfSeveralStates() throws {
    var other = SyncState()
    other.user = UserID("_other")
    let file = StateSamples.AppFile(engines: [
      "private": try StateSamples.serialization(StateSamples.state),
      "shared": try StateSamples.serialization(other),
    ])
    for bytes in [
      try StateSamples.json(file), try StateSamples.xml(file),
      try StateSamples.xml(file, binary: true),
    ] {
      for (member, user) in [("engines.private", "_a"), ("engines.shared.data", "_other")] {
        let inspection = try StateInspection(bytes: bytes, member: member)
        #expect(inspection.state.user?.rawValue == user)
      }
      let places = "engines.private.data, engines.shared.data"
      let table: [(member: String?, message: String)] = [
        (nil, "F holds 2 states, at \(places). Say which member to take."),
        ("engines", "F holds 2 states at engines. It has them at \(places)."),
        ("engine", "F holds no state at engine. It has them at \(places)."),
      ]
      for row in table {
        let error = #expect(throws: StateInspectionError.self) {
          try StateInspection(bytes: bytes, name: "F", member: row.member)
        }
        #expect(error?.message == row.message)
        #expect(error?.code == .ambiguous)
      }
    }
  }

  @Test("A member that a file does not have is an error, and not its one state elsewhere")
  func absentMemberShowsNoOtherState() throws {
    let file = StateSamples.AppFile(engines: [
      "private": try StateSamples.serialization(StateSamples.state)
    ])
    let bytes = try StateSamples.json(file)
    let error = #expect(throws: StateInspectionError.self) {
      try StateInspection(bytes: bytes, name: "F", member: "engines.shared")
    }
    #expect(error?.code == .ambiguous)
    #expect(
      error?.message
        == "F holds no state at engines.shared. It has them at engines.private.data.")
    let found = try StateInspection(bytes: bytes, member: "engines.private")
    #expect(found.state.user == StateSamples.state.user)
  }

  @Test("A path that is not a regular file gives a clear error without waiting")
  func invalidPathFailsWithoutWaiting() throws {
    try StateSamples.inFolder { folder in
      let pipe = folder.appendingPathComponent("pipe").path
      #expect(mkfifo(pipe, 0o600) == 0)
      let empty = folder.appendingPathComponent("empty").path
      try Data().write(to: URL(fileURLWithPath: empty))
      let table: [(path: String, code: StateInspectionError.Code, message: String)] = [
        (folder.path + "/none", .unreadable, "There is no file \(folder.path)/none."),
        (folder.path, .unreadable, "\(folder.path) is a folder."),
        (pipe, .unreadable, "\(pipe) is no file."),
        (empty, .foreign, "\(empty) is empty: no engine has stored anything in it yet."),
        (
          folder.path + String(repeating: "x", count: 300), .unreadable,
          "Could not read \(folder.path)xxx"
        ), (empty + "/x", .unreadable, "Could not read \(empty)/x: Not a directory."),
        ("a\n\u{1b}b", .unreadable, "There is no file a\\u{a}\\u{1b}b."),
      ]
      for row in table {
        let error = #expect(throws: StateInspectionError.self) {
          try StateInspection(path: row.path)
        }
        #expect(error?.code == row.code)
        #expect(error?.message.hasPrefix(row.message) == true, "\(error?.message ?? "")")
      }
    }
  }

  /// Proves E4.
  @Test("A state with 100,000 pending changes is shown and compared quickly")
  func largeStateIsShownAndComparedQuickly() throws {
    var state = SyncState()
    for number in 0..<100_000 { state.records.add(StateSamples.save("record-\(number)")) }
    let old = try StateInspection(bytes: StateSamples.json(StateSamples.serialization(state)))
    for number in 0..<100_000 where number.isMultiple(of: 2) {
      state.records.remove(StateSamples.save("record-\(number)"))
    }
    let before = processorSeconds()
    let new = try StateInspection(bytes: state.encoded())
    let text = old.text(limit: 3)
    #expect(text.contains("pending record zone changes   100,000 (100,000 saves, 0 deletions)"))
    #expect(text.hasSuffix("  save  Notes/record-2\n  ... and 99,997 more\n"))
    #expect(old.json.utf8.count > 5_000_000)
    #expect(StateInspection.diff(old, new).count == 50_000)
    #expect(old.text(limit: 0).contains("record-") == false)
    // Far more than it takes, and far less than anything quadratic would, however busy the machine.
    let time = processorSeconds() - before
    #expect(time < 60, "\(time) s")
  }
}

/// The time that this thread had a processor, in seconds.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
