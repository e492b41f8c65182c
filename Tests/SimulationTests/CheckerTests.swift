import CloudProtocol
import Records
import SyncMachine
import Testing

@testable import SimulationSupport

/// Each checker is told a course of things that is right, and others that are not.
@Suite("Checkers see what they are for")
struct CheckerTests {
  private let layout = WorldLayout(
    zoneCount: 1, recordsPerZone: 2, users: [UserID("alice"), UserID("bob")])
  private var id: RecordID { layout.records[0] }
  private var zone: ZoneID { layout.zones[0] }

  private func save(_ sequence: Int) -> RecordSave {
    RecordSave(
      id: id, type: SimulatedValue.recordType,
      changes: SimulatedValue(account: 1, device: 0, sequence: sequence, place: 0).changes)
  }

  private func sent(_ error: CloudError.Code? = nil) -> SentRecords {
    let record = Record(id: id, type: SimulatedValue.recordType)
    return SentRecords(
      saved: [
        ItemResult(id: id, error.map { .failure(CloudError($0, "no")) } ?? .success(record))
      ], deleted: [])
  }

  private func pending(_ kind: ChangeKind?) -> SyncState {
    var state = SyncState()
    if let kind { state.apply(.addRecord(PendingChange(kind, id))) }
    return state
  }

  /// Proves I4.
  @Test(
    "An edit made after a batch was built must stay pending when the batch has succeeded",
    arguments: [true, false])
  func editAfterBatchStaysPending(isBehind: Bool) {
    var checker = EditChecker()
    checker.note(.add(.save, .record(id)))
    if !isBehind { checker.note(.add(.delete, .record(id))) }
    checker.noteBuilding()
    if isBehind { checker.note(.add(.delete, .record(id))) }
    checker.note(given: RecordBatch(saves: [save(1)]))
    checker.note(told: sent().outcomes)
    #expect((checker.fault(in: pending(nil)) != nil) == isBehind)
    #expect((checker.fault(in: pending(.save)) != nil) == isBehind)
    #expect(checker.fault(in: pending(.delete)) == nil)
    // The app takes it back, or nobody knows whether it did.
    for excuse in [true, false] {
      var checker = checker
      let call = AppCall.remove(.delete, .record(id))
      if excuse { checker.excuse(call) } else { checker.note(call) }
      #expect(checker.fault(in: pending(nil)) == nil)
    }
  }

  /// Proves I7.
  @Test("A repeated request has one answer")
  func repeatedRequestHasOneAnswer() {
    var checker = ReplayChecker()
    func check(_ name: String, _ tag: String, account: Int = 1) -> ReplayChecker.Verdict {
      let call = CloudCall(
        container: WorldLayout.container, environment: .development, database: .private,
        expectedUser: nil, requestID: name, request: .modifyRecords(ModifyRecords(save: [save(1)])))
      let record = Record(
        id: id, type: SimulatedValue.recordType, changeTag: ChangeTag(tag))
      return checker.check(
        call, account: account, device: "phone",
        .recordsModified(saved: [ItemResult(id: id, .success(record))], deleted: []))
    }
    #expect(check("a", "1") == .new && check("a", "1") == .repeated)
    #expect(check("a", "2") == .contradicted)
    #expect(check("b", "2") == .new && check("a", "2", account: 2) == .new)
  }

  /// Proves I12.
  @Test("Every item of a batch has one outcome, and no other item has one")
  func batchItemsHaveExactlyOneOutcome() {
    let request = ModifyRecords(save: [save(1)], delete: [layout.records[1]])
    let done = ItemResult<RecordID, Done>(id: layout.records[1], .success(Done()))
    let (saved, deleted) = (sent().saved, [done])
    let zoneHistories: [(String, SentRecords, Bool)] = [
      ("all", SentRecords(saved: saved, deleted: deleted), true),
      ("no deletion", SentRecords(saved: saved, deleted: []), false),
      ("no save", SentRecords(saved: [], deleted: deleted), false),
      ("one twice", SentRecords(saved: saved + saved, deleted: deleted), false),
      (
        "a stranger",
        SentRecords(saved: saved, deleted: deleted + [.init(id: id, .success(Done()))]),
        false
      ),
    ]
    for (name, sent, isRight) in zoneHistories {
      var checker = BatchChecker()
      checker.note(sending: request)
      #expect((checker.fault(telling: sent) == nil) == isRight, "\(name)")
      #expect(checker.fault(telling: sent) != nil, "\(name): told again")
    }
  }

  /// Proves I12.
  @Test("The server answers every item of a batch, and an atomic batch uniformly")
  func serverAnswersBatchCompletely() {
    let findings = Findings()
    let oracle = CloudOracle(layout: layout, findings: findings)
    let request = ModifyRecords(save: [save(1)], delete: [layout.records[1]])
    let done = ItemResult<RecordID, Done>(id: layout.records[1], .success(Done()))
    #expect(oracle.checkCompleteness(request, sent().saved, [done]))
    oracle.checkAtomicity(sent().saved, [done])
    #expect(findings.isEmpty)
    #expect(!oracle.checkCompleteness(request, sent().saved, []))
    oracle.checkAtomicity(sent(.zoneBusy).saved, [done])
    #expect(findings.found.map(\.invariant) == ["I12", "I12"])
  }

  /// Proves I15.
  @Test("Each error has exactly one outcome", arguments: CloudError.Code.allCases)
  func errorHasOneOutcome(code: CloudError.Code) {
    var state = pending(.save)
    _ = state.records.take(PendingChange(.save, id))
    var checker = OutcomeChecker()
    checker.note(told: sent(code).outcomes, with: state)
    let isRetried = code.isRetriedByEngine
    #expect(isRetried == (code.disposition == .retry), "the tables differ")
    var other = checker
    #expect(checker.faults(in: pending(.save)).isEmpty == isRetried)
    #expect(other.faults(in: pending(nil)).isEmpty == !isRetried)
    // What the app does itself is its own affair.
    other.note(told: sent(code).outcomes, with: state)
    other.note(.add(.save, .record(id)))
    #expect(other.faults(in: pending(.save)).isEmpty)
  }

  /// Proves I21.
  @Test(
    "Records deleted with a zone are not uploaded again", arguments: ZoneDeletionReason.allCases)
  func recordsOfLostZoneAreNotUploaded(reason: ZoneDeletionReason) {
    var checker = ZoneLossChecker(layout: layout)
    let deletion = ZoneDeletion(zone: zone, reason: reason)
    checker.note(
      arrived: DatabaseChangesPage(
        modified: [], deleted: [deletion], token: ChangeToken(bytes: [1]), moreComing: false))
    #expect(checker.faults(telling: [deletion], lastSequence: 5).isEmpty)
    let isKept = reason == .encryptedDataReset
    #expect((checker.fault(sending: ModifyRecords(save: [save(5)])) == nil) == isKept)
    #expect(checker.fault(sending: ModifyRecords(save: [save(6)])) == nil)
    var given = Record(id: id, type: SimulatedValue.recordType)
    for change in save(5).changes { given.fields[change.key] = change.field }
    checker.note(given: [given])
    #expect(checker.fault(sending: ModifyRecords(save: [save(5)])) == nil)
    // Told for another reason than the server gave.
    for other in ZoneDeletionReason.allCases where other != reason {
      checker.note(
        arrived: DatabaseChangesPage(
          modified: [], deleted: [deletion], token: ChangeToken(bytes: [1]), moreComing: false))
      let told = ZoneDeletion(zone: zone, reason: other)
      #expect(!checker.faults(telling: [told], lastSequence: 5).isEmpty, "\(other)")
    }
  }
}
