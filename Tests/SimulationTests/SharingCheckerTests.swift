import CloudProtocol
import Records
import Testing

@testable import SimulationSupport

/// The oracle is told of a share, and then of answers that are right and others that are not.
@Suite("The oracle of shares sees what it is for")
struct SharingCheckerTests {
  private let findings = Findings()
  private let layout: WorldLayout
  private let visited: ZoneID

  init() {
    var layout = WorldLayout(
      zoneCount: 1, recordsPerZone: 2, users: [UserID("alice"), UserID("bob")])
    layout.treeSizes = [1]
    self.layout = layout
    visited = ZoneID(name: layout.zones[0].name, owner: "alice")
  }

  private func record(_ place: Int, in zone: ZoneID, tag: String) -> Record {
    var record = Record(
      id: RecordID(name: layout.records[place].name, zone: zone),
      type: SimulatedValue.recordType, changeTag: ChangeTag(tag))
    for change in save(place, in: zone).changes { record.fields[change.key] = change.field }
    return record
  }

  private func save(_ place: Int, in zone: ZoneID, tag: String? = nil) -> RecordSave {
    RecordSave(
      id: RecordID(name: layout.records[place].name, zone: zone),
      type: SimulatedValue.recordType, changeTag: tag.map { ChangeTag($0) },
      changes: SimulatedValue(account: 1, device: 0, sequence: 1, place: place).changes)
  }

  /// An oracle that knows of two records, of which Bob was given the first.
  private func oracle(_ permission: SharePermission) -> CloudOracle {
    var oracle = CloudOracle(layout: layout, findings: findings)
    oracle.sharing = SharingModel(layout: layout)
    let zone = layout.zones[0]
    check(
      &oracle, .modifyZones(ModifyZones(save: [zone])),
      .zonesModified(saved: [ItemResult(id: zone, .success(Zone(id: zone)))], deleted: []), by: 1)
    let id = layout.share(of: 0)
    var share = Record(id: id, type: ShareDetails.recordType, changeTag: ChangeTag("3"))
    share.sharing = ShareDetails(
      root: layout.records[0],
      participants: [
        ShareParticipant(
          id: "bob", identity: UserIdentity(user: UserID("bob")), permission: permission,
          acceptance: .accepted)
      ])
    check(
      &oracle,
      .modifyRecords(
        ModifyRecords(save: [
          save(0, in: zone), save(1, in: zone),
          RecordSave(id: id, type: share.type, changes: [], sharing: share.sharing),
        ])),
      .recordsModified(
        saved: [
          ItemResult(id: layout.records[0], .success(record(0, in: zone, tag: "1"))),
          ItemResult(id: layout.records[1], .success(record(1, in: zone, tag: "2"))),
          ItemResult(id: id, .success(share)),
        ], deleted: []), by: 1)
    return oracle
  }

  private func check(
    _ oracle: inout CloudOracle, _ request: CloudRequest, _ reply: CloudReply, by account: Int,
    in database: DatabaseScope = .private
  ) {
    let call = CloudCall(
      container: WorldLayout.container, database: database,
      requestID: "\(oracle.clock) \(request)", request: request)
    _ = oracle.check(call, account: account, device: "device\(account)", reply)
  }

  private func read(_ places: [Int], _ oracle: inout CloudOracle) {
    check(
      &oracle, .fetchZoneChanges(FetchZoneChanges(zone: visited, since: nil)),
      .zoneChanges(
        ZoneChangesPage(
          zone: visited, modified: places.map { record($0, in: visited, tag: "\($0 + 1)") },
          deleted: [], token: ChangeToken(bytes: [1]), moreComing: false)),
      by: 2, in: .shared)
  }

  /// Proves PB-30.
  @Test(arguments: [[0], [], [0, 1]])
  func aRecordOutsideOfTheShareIsReported(places: [Int]) {
    var oracle = oracle(.readOnly)
    read(places, &oracle)
    let expected: [[Int]: [String]] = [[0]: [], []: ["I9"], [0, 1]: ["I13"]]
    #expect(Set(findings.found.map(\.invariant)) == Set(expected[places] ?? []))
  }

  /// Proves PB-31.
  @Test(arguments: [SharePermission.readOnly, .readWrite])
  func aWriteWithoutPermissionIsReported(permission: SharePermission) {
    var oracle = oracle(permission)
    let id = RecordID(name: layout.records[0].name, zone: visited)
    check(
      &oracle, .modifyRecords(ModifyRecords(save: [save(0, in: visited, tag: "1")])),
      .recordsModified(
        saved: [ItemResult(id: id, .success(record(0, in: visited, tag: "4")))], deleted: []),
      by: 2, in: .shared)
    #expect(findings.found.map(\.invariant) == (permission == .readOnly ? ["I13"] : []))
  }

  /// Proves PB-32.
  @Test
  func aParticipantThatLeftAndStillReadsIsReported() {
    var oracle = oracle(.readWrite)
    check(
      &oracle, .modifyZones(ModifyZones(delete: [visited])),
      .zonesModified(saved: [], deleted: [ItemResult(id: visited, .success(Done()))]),
      by: 2, in: .shared)
    #expect(findings.isEmpty)
    read([0], &oracle)
    #expect(findings.found.map(\.invariant) == ["I13"])
  }
}
