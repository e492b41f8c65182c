import CloudProtocol
import CloudSync
import Foundation
import Records
import StateInspection
import SyncMachine
import Testing

@Suite("State inspection: what differs")
struct StateDifferenceTests {
  private static func inspection(_ state: SyncState) throws -> StateInspection {
    try StateInspection(bytes: state.encoded())
  }

  private typealias Row = (lines: [String], back: [String], change: (inout SyncState) -> Void)

  private static let notes = StateSamples.notes

  private static var flags: [Row] {
    [
      ([], [], { _ in }),
      (["~ account: _a -> \"a b\""], ["~ account: \"a b\" -> _a"], { $0.user = UserID("a b") }),
      (["- account: _a"], ["+ account: _a"], { $0.user = nil }),
      (
        ["+ account before, until the app was told: no account"],
        ["- account before, until the app was told: no account"],
        { $0.unannounced = UnannouncedAccount(previous: nil) }
      ),
      (
        ["- database token: 2 bytes 3f01"], ["+ database token: 2 bytes 3f01"],
        { $0.databaseToken = nil }
      ),
      (
        ["~ subscription: changes -> other"], ["~ subscription: other -> changes"],
        { $0.subscription = SubscriptionID("other") }
      ),
      (
        ["~ fetches before next send: yes -> no", "~ pending untracked changes: yes -> no"],
        ["~ fetches before next send: no -> yes", "~ pending untracked changes: no -> yes"],
        {
          $0.needsFetch = false
          $0.hasUntrackedChanges = false
        }
      ),
      (
        ["~ token of zone Notes: 12 bytes 000102030405060708090a0b -> 1 byte 40"],
        ["~ token of zone Notes: 1 byte 40 -> 12 bytes 000102030405060708090a0b"],
        { $0.zoneTokens[notes] = ChangeToken(bytes: [0x40]) }
      ),
      (
        ["+ token of zone A: 0 bytes"], ["- token of zone A: 0 bytes"],
        { $0.zoneTokens[ZoneID(name: "A")] = ChangeToken(bytes: []) }
      ),
    ]
  }

  private static var lists: [Row] {
    [
      (
        [
          "- zone with unfetched changes Inbox", "+ zone with unfetched changes Notes",
          "- zone to read from the start _owner/\"My Lists\"",
        ],
        [
          "- zone with unfetched changes Notes", "+ zone with unfetched changes Inbox",
          "+ zone to read from the start _owner/\"My Lists\"",
        ],
        {
          $0.changedZones = [notes]
          $0.expiredZones = []
        }
      ),
      (
        ["~ pending change of zone Old: delete -> save", "+ pending save of zone New"],
        ["~ pending change of zone Old: save -> delete", "- pending save of zone New"],
        {
          $0.zones.add(PendingChange(.save, ZoneID(name: "Old")))
          $0.zones.add(PendingChange(.save, ZoneID(name: "New")))
        }
      ),
      (
        [
          "~ pending change Notes/n1: save -> delete", "- pending save Notes/\"a/b\"",
          "+ pending delete Notes/n9",
        ],
        [
          "~ pending change Notes/n1: delete -> save", "- pending delete Notes/n9",
          "+ pending save Notes/\"a/b\"",
        ],
        {
          $0.records.remove(StateSamples.save("a/b"))
          $0.records.add(PendingChange(.delete, RecordID(name: "n1", zone: notes)))
          $0.records.add(PendingChange(.delete, RecordID(name: "n9", zone: notes)))
        }
      ),
      (
        [
          "~ order of pending record zone changes, first at number 1 of those in both: "
            + "pending save Notes/n1 -> pending save Notes/\"a/b\""
        ],
        [
          "~ order of pending record zone changes, first at number 1 of those in both: "
            + "pending save Notes/\"a/b\" -> pending save Notes/n1"
        ],
        {
          $0.records.remove(StateSamples.save("n1"))
          $0.records.add(StateSamples.save("n1"))
        }
      ),
    ]
  }

  /// Proves E3.
  @Test("Each possible difference is one line, in both directions")
  func eachDifferenceIsOneLine() throws {
    let old = try StateDifferenceTests.inspection(StateSamples.state)
    for row in StateDifferenceTests.flags + StateDifferenceTests.lists {
      var state = StateSamples.state
      row.change(&state)
      let new = try StateDifferenceTests.inspection(state)
      #expect(StateInspection.diff(old, new).map(\.description) == row.lines)
      #expect(StateInspection.diff(new, old).map(\.description) == row.back)
    }
  }

  @Test("Tokens that differ only in the middle are shown whole")
  func tokensDifferingInMiddleAreShownWhole() throws {
    var state = StateSamples.state
    state.zoneTokens[StateSamples.shared]?.bytes[20] = 0xff
    let differences = StateInspection.diff(
      try StateDifferenceTests.inspection(StateSamples.state),
      try StateDifferenceTests.inspection(state))
    let line = differences.first?.description ?? ""
    #expect(differences.count == 1)
    #expect(line.contains("0f1011121314151617") && line.contains("0f10111213ff151617"))
  }

  @Test("A log does not differ from the state it leads to, and JSON lists the differences")
  func logEqualsStateItLeadsTo() throws {
    let log = try StateInspection(bytes: StateSamples.log(StateSamples.state))
    #expect(StateInspection.diff(log, try StateDifferenceTests.inspection(log.state)) == [])
    let differences = StateInspection.diff(
      try StateDifferenceTests.inspection(StateSamples.state), log)
    #expect(
      differences.map(\.description) == [
        "~ database token: 2 bytes 3f01 -> 1 byte 40", "- pending save Notes/n1",
        "+ pending save Notes/n5",
      ])
    let json = """
      [
        {
          "change" : "changed",
          "new" : "1 byte 40",
          "old" : "2 bytes 3f01",
          "what" : "database token"
        },
        {
          "change" : "removed",
          "what" : "pending save Notes/n1"
        },
        {
          "change" : "added",
          "what" : "pending save Notes/n5"
        }
      ]
      """
    #expect(StateDifference.json(differences) == json)
  }
}
