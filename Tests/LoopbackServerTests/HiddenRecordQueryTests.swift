import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

@testable import LoopbackServer

/// Queries of a participant, who sees only some of the records that are read for the answer.
@Suite("Queries over records that the asker may not see")
struct HiddenRecordQueryTests {
  /// Alice's zone.
  private static let zone = ZoneID(name: "Z")
  /// The records that the participant sees, by name.
  private static let names = ["b1", "b2", "b3", "d1", "d2", "f1", "f2"]

  /// A storage with alice's zone, of which bob sees one hierarchy.
  private final class Cloud {
    let machine = CloudMachine()
    let storage: any CloudStorage
    let owner: Caller
    let participant: Caller
    /// The zone as the participant names it.
    let visited: ZoneID
    private var number = 0

    init(_ storage: any CloudStorage) throws {
      self.storage = storage
      let alice = try machine.createAccount("alice", in: storage).user
      owner = Caller(user: alice, device: "phone")
      participant = Caller(
        user: try machine.createAccount("bob", in: storage).user, device: "other")
      visited = ZoneID(name: zone.name, owner: alice.rawValue)
    }

    func ask(
      _ request: CloudRequest, as caller: Caller, in scope: DatabaseScope
    ) throws -> CloudReply {
      number += 1
      let call = CloudCall(
        container: "c", database: scope, requestID: "\(number)", request: request)
      return try machine.answer(
        call, from: caller, now: Timestamp(secondsSinceReferenceDate: Double(1_000 + number)),
        in: storage
      ).result.get()
    }

    /// Makes `count` records before, between and after the records that are shared, by name.
    func fill(hidden count: Int) throws {
      func id(_ name: String) -> RecordID { RecordID(name: name, zone: zone) }
      func record(_ name: String, _ value: Int) -> RecordSave {
        RecordSave(Record(id: id(name), type: "T", fields: ["n": .int64(Int64(value))]))
      }
      _ = try ask(.modifyZones(ModifyZones(save: [zone])), as: owner, in: .private)
      var share = ShareDetails(root: id("root"), publicPermission: .readWrite)
      let root = RecordSave(Record(id: id("root"), type: "Root"))
      guard
        case .recordsModified(let saved, _) = try ask(
          .modifyRecords(
            ModifyRecords(save: [
              root,
              RecordSave(
                id: id("share"), type: ShareDetails.recordType, changes: [], sharing: share),
            ])), as: owner, in: .private), let stored = saved.last?.value?.sharing
      else { throw CloudError(.internalError, "the share was not saved") }
      share = stored
      for (place, letter) in ["a", "c", "e"].enumerated() {
        let saves = (0..<count).map { record("\(letter)\(1_000 + $0)", place + $0) }
        _ = try ask(.modifyRecords(ModifyRecords(save: saves)), as: owner, in: .private)
      }
      let visible = names.enumerated().map { index, name in
        var save = record(name, 10 - index)
        save.parent = .set(id("root"))
        return save
      }
      _ = try ask(.modifyRecords(ModifyRecords(save: visible)), as: owner, in: .private)
      _ = try ask(.acceptShares([share.url ?? ""]), as: participant, in: .shared)
    }

    /// The names that the participant finds, page by page.
    func found(_ query: Query, limit: Int?) throws -> [String] {
      var names: [String] = []
      var cursor: QueryCursor?
      repeat {
        let request = QueryRecords(query: query, zone: visited, cursor: cursor, limit: limit)
        guard
          case .queried(let page) = try ask(.queryRecords(request), as: participant, in: .shared)
        else { throw CloudError(.internalError, "the query was answered with something else") }
        names += page.records.map(\.id.name)
        cursor = page.cursor
      } while cursor != nil
      return names
    }
  }

  private func check(_ storage: any CloudStorage, hidden: Int, _ kind: String) throws {
    let cloud = try Cloud(storage)
    try cloud.fill(hidden: hidden)
    let names = HiddenRecordQueryTests.names
    let all = Query.Filter(key: "n", comparator: .greaterThan, value: .int64(-1))
    let byNumber = Query.Sort(key: "n", ascending: true)
    for limit in [nil, 1, 2, 5, 7] as [Int?] {
      for filters in [[], [all]] {
        let plain = try cloud.found(Query(recordType: "T", filters: filters), limit: limit)
        #expect(plain == names, "\(kind), \(hidden) hidden, limit \(limit ?? 0)")
        let sorted = try cloud.found(
          Query(recordType: "T", filters: filters, sorts: [byNumber]), limit: limit)
        #expect(sorted == names.reversed(), "\(kind), \(hidden) hidden, limit \(limit ?? 0)")
      }
    }
  }

  /// The first slice has 16 records, no slice more than 64.
  ///
  /// Proves CS-242.
  @Test("Whole slices of hidden records do not end a query", arguments: [15, 16, 17, 48, 112, 300])
  func slicesOfHiddenRecordsDoNotEndAQuery(hidden: Int) throws {
    try check(MemoryStorage(identity: 1), hidden: hidden, "in memory")
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    try check(storage, hidden: hidden, "in a file")
    try storage.close()
  }
}
