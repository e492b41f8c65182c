import CloudMachine
import Records
import Testing

@testable import LoopbackServer

@Suite("The changes that a server knows of")
struct KnownPositionTests {
  private let database = DatabaseID(
    container: "c", environment: .development, scope: .private, owner: UserID("_a"))

  private func row(_ sequence: UInt64) -> DatabaseRow {
    DatabaseRow(
      id: database, incarnation: 1, sequence: sequence,
      latest: Timestamp(secondsSinceReferenceDate: Double(sequence)))
  }

  @Test("A change of unknown outcome is checked again, although a later one was noted meanwhile")
  func unknownChangeIsCheckedAgain() {
    var positions = KnownPositions()
    positions.learn(row(9))
    positions.endCheck(at: 1)
    let own = [
      ChangedDatabase(
        database, after: DatabasePosition(row(9)), through: DatabasePosition(row(10)))
    ]
    positions.learn(own)
    #expect(positions.position(of: database) == DatabasePosition(row(10)))
    // Another server's change, for which pushes are sent.
    positions.learn(row(11))
    positions.forget(own)
    #expect(positions.position(of: database) == DatabasePosition(row(9)))
  }

  @Test("A failed check is taken back, unless the storage was replaced meanwhile")
  func failedCheckIsTakenBack() {
    var positions = KnownPositions()
    _ = positions.beginCheck(of: 1)
    positions.learn(row(9))
    positions.endCheck(at: 5)
    let earlier = [database: DatabasePosition(row(1))]
    let isOther = positions.beginCheck(of: 2)
    #expect(isOther)
    positions.learn(row(3))
    positions.takeBack(to: earlier, in: 1)
    #expect(positions.position(of: database) == DatabasePosition(row(3)))
    #expect(positions.version == 5)
    positions.takeBack(to: earlier, in: 2, checkedAt: 4)
    #expect(positions.position(of: database) == DatabasePosition(row(1)))
    #expect(positions.version == 4)
  }

  @Test("An account whose first device comes during a check is still known after it")
  func accountThatComesDuringCheckIsKnown() {
    var watched = WatchedAccounts()
    watched.insert("alice")
    watched.insert("bob")
    let earlier = watched.names
    watched.insert("carol")
    watched.endCheck(of: ["alice"], since: earlier)
    #expect(watched.names == ["alice", "carol"])
  }
}
