import CloudMachine
import CloudProtocol
import Records
import Testing

/// Who may do what in the public database.
///
/// Rules: CS-150 to CS-170. The roles are the simple ones: the world reads, accounts create,
/// creators change.
struct PublicDatabaseTests {
  /// One request, and what each of three comes to: nobody, the creator and somebody else.
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var request: CloudRequest
    var nobody: String
    var creator: String
    var other: String
  }

  static let home = ZoneID.default

  static let cases: [Case] = [
    Case(
      testDescription: "read by ID", request: .fetchRecords(FetchRecords(ids: [id("a", home)])),
      nobody: "a ok", creator: "a ok", other: "a ok"),
    Case(
      testDescription: "query",
      request: .queryRecords(QueryRecords(query: Query(recordType: "Note"))), nobody: "a",
      creator: "a", other: "a"),
    Case(
      testDescription: "the one zone", request: .fetchZones(nil), nobody: "_defaultZone ok",
      creator: "_defaultZone ok", other: "_defaultZone ok"),
    Case(
      testDescription: "create",
      request: .modifyRecords(ModifyRecords(save: [fresh("b", zone: home)])),
      nobody: "! notAuthenticated", creator: "+b ok", other: "+b ok"),
    Case(
      testDescription: "change",
      request: .modifyRecords(
        ModifyRecords(save: [fresh("a", ["n": .int64(2)], zone: home)], policy: .changedKeys)),
      nobody: "! notAuthenticated", creator: "+a ok", other: "+a permissionFailure"),
    Case(
      testDescription: "delete",
      request: .modifyRecords(ModifyRecords(delete: [id("a", home), id("x", home)])),
      nobody: "! notAuthenticated", creator: "-a ok, -x ok",
      other: "-a permissionFailure, -x ok"),
    Case(
      testDescription: "never atomic",
      request: .modifyRecords(
        ModifyRecords(save: [fresh("a", zone: home), fresh("b", zone: home)], isAtomic: true)),
      nobody: "! notAuthenticated", creator: "+a serverRecordChanged, +b ok",
      other: "+a permissionFailure, +b ok"),
    Case(
      testDescription: "a custom zone",
      request: .modifyZones(ModifyZones(save: [World.zone])), nobody: "! notAuthenticated",
      creator: "+Z badDatabase", other: "+Z badDatabase"),
    Case(
      testDescription: "a record in a custom zone",
      request: .fetchRecords(FetchRecords(ids: [id("a")])), nobody: "a badDatabase",
      creator: "a badDatabase", other: "a badDatabase"),
    Case(
      testDescription: "the database's feed",
      request: .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)),
      nobody: "! invalidArguments", creator: "! invalidArguments", other: "! invalidArguments"),
    Case(
      testDescription: "the zone's feed",
      request: .fetchZoneChanges(FetchZoneChanges(zone: home, since: nil)),
      nobody: "! invalidArguments", creator: "! invalidArguments", other: "! invalidArguments"),
    Case(
      testDescription: "a share",
      request: .modifyRecords(
        ModifyRecords(save: [
          RecordSave(
            id: id("S", home), type: ShareDetails.recordType, changes: [],
            sharing: ShareDetails(root: id("a", home)))
        ])),
      nobody: "! notAuthenticated", creator: "+S badDatabase", other: "+S badDatabase"),
    Case(
      testDescription: "an encrypted value",
      request: .modifyRecords(
        ModifyRecords(save: [
          RecordSave(
            id: id("e", home), type: "Note",
            changes: [.init(key: "k", field: Field(.int64(1), isEncrypted: true))])
        ])),
      nobody: "! notAuthenticated", creator: "+e invalidArguments", other: "+e invalidArguments"),
    Case(
      testDescription: "who am I", request: .fetchCurrentUser, nobody: "! notAuthenticated",
      creator: "user", other: "user"),
  ]

  /// Proves CS-150, CS-151, E8, SC-157.
  @Test("Each caller gets only the operations that the public database permits", arguments: cases)
  func eachCallerHasItsPublicPermissions(_ one: Case) throws {
    for (caller, expected) in [
      (\World.guest, one.nobody), (\World.phone, one.creator), (\World.stranger, one.other),
    ] {
      let world = try World()
      _ = try world.modify(
        [fresh("a", ["n": .int64(1)], zone: PublicDatabaseTests.home)], in: .public)
      let words = try world.say(one.request, as: world[keyPath: caller], in: .public)
      #expect(words.hasPrefix("user") ? expected == "user" : words == expected)
    }
  }

  /// Proves CS-152.
  @Test("Public records do not count against the account's own quota")
  func publicRecordsDoNotUseAccountQuota() throws {
    let world = try World()
    try world.machine.setQuota(1, of: world.alice, in: world.storage)
    let save = fresh(
      "a", ["text": .string("much more than a byte")], zone: PublicDatabaseTests.home)
    #expect(try world.modify([save], in: .public) == "+a ok")
    #expect(try world.modify([save]) == "+a quotaExceeded")
  }
}
