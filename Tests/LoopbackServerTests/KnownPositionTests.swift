import CloudMachine
import Records
import Testing

@testable import LoopbackServer

@Suite("The changes that a server knows of")
struct KnownPositionTests {
  private let database = DatabaseID(
    container: "c", environment: .development, scope: .private, owner: UserID("_a"))

  @Test("A change of unknown outcome is checked again, although a later one was noted meanwhile")
  func unknownChangeIsCheckedAgain() {
    var positions = KnownPositions()
    positions.learn(database, through: 9)
    positions.endCheck(at: 1)
    let own = [ChangedDatabase(database, after: 9, through: 10)]
    positions.learn(own)
    #expect(positions.position(of: database) == 10)
    // Another server's change, for which pushes are sent.
    positions.learn(database, through: 11)
    positions.forget(own)
    #expect(positions.position(of: database) == 9)
  }
}
