import CloudProtocol
import Records
import Testing

@testable import CloudMachine

/// Names that the cloud derives from what they name: users, receipts, URLs, cursors and digests.
struct DerivedNameTests {
  @Test("The user name of an account is the same on every server, unless another account has it")
  func userNameIsTheSameOnEveryServer() throws {
    let machine = CloudMachine()
    let storage = MemoryStorage()
    let first = UserID("_2d9be88845c626b3b7c13ea60fe66107")
    #expect(try machine.createAccount("alice", in: storage).user == first)
    let other = MemoryStorage()
    try other.commit([.putAccount(AccountRow(name: "eve", user: first))])
    let second = try machine.createAccount("alice", in: other)
    #expect(second.user == UserID("_13aa98623f9ead9c08a0b84847ab9ffe"))
    #expect(try machine.createAccount("alice", in: other) == second)
    #expect(try other.accounts().map(\.name) == ["alice", "eve"])
    let longest = String(repeating: "n", count: 255)
    #expect(try machine.createAccount(longest, in: other).name == longest)
    #expect(throws: CloudError.self) { try machine.createAccount("a\u{7F}", in: other) }
  }

  @Test("The receipt of an upload differs with each part of what it is for")
  func receiptDiffersWithEachPart() throws {
    func receipt(
      _ world: World, by caller: (user: UserID, device: String)? = nil, requestID: String = "1",
      container: String = World.container, environment: CloudEnvironment = .development,
      type: String = "T", key: String = "k", content: AssetContent = [1]
    ) throws -> String {
      let caller = Caller(
        user: caller?.user ?? world.alice, device: caller?.device ?? "phone",
        choseRequestID: false)
      let request = UploadAsset(recordType: type, key: key, content: content)
      let answer = try world.ask(
        .uploadAsset(request), as: caller, container: container, environment: environment,
        requestID: requestID)
      guard case .assetUploaded(let asset) = try answer.reply() else { throw Unexpected() }
      return try #require(asset.receipt)
    }
    let world = try World()
    let first = try receipt(world)
    #expect(try receipt(world) == first)
    var receipts = [
      first, try receipt(world, by: (world.bob, "phone")),
      try receipt(world, by: (world.alice, "laptop")), try receipt(world, requestID: "2"),
      try receipt(world, container: "iCloud.other"),
      try receipt(world, environment: .production), try receipt(world, type: "U"),
      try receipt(world, key: "l"), try receipt(world, content: [2]),
    ]
    world.now.secondsSinceReferenceDate += 1
    receipts.append(try receipt(world))
    world.now.secondsSinceReferenceDate -= 1
    world.storage = MemoryStorage(identity: 8)
    _ = try world.machine.createAccount("alice", in: world.storage)
    receipts.append(try receipt(world))
    #expect(Set(receipts).count == 11, "\(receipts)")
  }

  @Test("An upload removes at most 100 that are too old")
  func uploadRemovesAHundredOldOnes() throws {
    let world = try World()
    func upload(_ number: Int) throws {
      let content = AssetContent([UInt8(number), 1])
      let request = UploadAsset(recordType: "T", key: "k", content: content)
      #expect(try world.say(.uploadAsset(request)) == "asset 2")
    }
    for number in 0..<102 { try upload(number) }
    world.now.secondsSinceReferenceDate += world.machine.limits.uploadSeconds
    for left in [3, 2, 3] {
      try upload(left + 110)
      let uploads = try world.storage.uploads(through: world.now, limit: .max)
      #expect(uploads.count == left)
    }
  }

  /// A database of these tests.
  private static func home(
    _ container: String = "c", _ environment: CloudEnvironment = .development,
    _ scope: DatabaseScope = .private, _ owner: String = "_a"
  ) -> DatabaseID {
    DatabaseID(
      container: container, environment: environment, scope: scope, owner: UserID(owner))
  }

  private static func storage(_ first: UInt64 = 1, _ second: UInt64 = 2) -> MemoryStorage {
    MemoryStorage(identity: 1, secret: StorageSecret(first: first, second: second))
  }

  @Test("The URL of a share differs with each part of what it names, and with the secret")
  func shareURLDiffersWithEachPart() throws {
    func url(
      _ home: DatabaseID = DerivedNameTests.home(), root: RecordID? = id("r"),
      zone: ZoneID = World.zone, in storage: MemoryStorage = DerivedNameTests.storage()
    ) throws -> String {
      try ShareAddress.url(ofShareOf: root, in: zone, home, storage)
    }
    let urls = [
      try url(), try url(root: nil), try url(root: id("s")), try url(zone: ZoneID(name: "Y")),
      try url(Self.home("d")), try url(Self.home("c", .production)),
      try url(Self.home("c", .development, .private, "_b")), try url(in: Self.storage(3, 2)),
      try url(in: Self.storage(1, 3)),
    ]
    #expect(Set(urls).count == urls.count)
    #expect(try url() == urls[0])
    for url in urls {
      #expect(url.hasPrefix(ShareAddress.prefix))
      #expect(url.utf8.count == ShareAddress.prefix.utf8.count + 40)
    }
  }

  @Test("The ID of a participant differs with the person, the URL and the secret")
  func participantIDDiffersWithEachPart() throws {
    let alice = UserIdentity(user: UserID("_a"))
    func participant(
      _ identity: UserIdentity, _ url: String = "u",
      _ storage: MemoryStorage = DerivedNameTests.storage()
    ) throws -> String {
      try ShareAddress.participantID(of: identity, in: url, storage)
    }
    let ids = [
      try participant(alice), try participant(UserIdentity(user: UserID("_b"))),
      try participant(UserIdentity(lookup: .email("a"))),
      try participant(UserIdentity(lookup: .email("b"))), try participant(alice, "v"),
      try participant(alice, "u", Self.storage(3, 2)),
      try participant(alice, "u", Self.storage(1, 3)),
    ]
    #expect(Set(ids).count == ids.count && ids.allSatisfy { $0.utf8.count == 32 })
    let invited = UserIdentity(user: UserID("_a"), lookup: .email("b"))
    #expect(try participant(invited) == ids[0], "an account has one ID, however it was found")
  }

  @Test("A cursor is bound to each part of its query's origin")
  func cursorIsBoundToItsOrigin() {
    func binding(
      _ database: DatabaseID = DerivedNameTests.home(), storage: UInt64 = 1, user: String? = "_a",
      zone: ZoneID? = World.zone, type: String = "T"
    ) -> [UInt8] {
      QueryPosition.binding(
        storage: storage, database: database, user: user.map { UserID($0) }, zone: zone,
        query: Query(recordType: type))
    }
    let bindings = [
      binding(), binding(storage: 2), binding(user: nil), binding(user: "_b"), binding(zone: nil),
      binding(zone: .default), binding(type: "U"), binding(Self.home("d")),
      binding(Self.home("c", .production)), binding(Self.home("c", .development, .shared)),
    ]
    #expect(Set(bindings).count == bindings.count)
  }

  @Test("A cursor holds every kind of value that records are sorted by")
  func cursorHoldsEveryKindOfValue() throws {
    let keys: [QueryValue?] = [
      nil, .text("a"), .integer(.min), .number(-0.5), .time(2), .bytes([1, 2]), .reference(id("r")),
      .name("n"),
    ]
    let position = QueryPosition(keys: keys, id: id("last"))
    let binding = [UInt8](repeating: 7, count: 32)
    let cursor = position.cursor(of: binding)
    #expect(QueryPosition(cursor, of: binding) == position)
    #expect(QueryPosition.record(in: cursor) == id("last"))
    #expect(QueryPosition(cursor, of: [UInt8](repeating: 8, count: 32)) == nil)
    for count in 0..<cursor.bytes.count {
      let short = QueryCursor(bytes: Array(cursor.bytes.prefix(count)))
      #expect(QueryPosition(short, of: binding) == nil, "\(count) bytes")
    }
    var reader = ByteReader([UInt8(7)])
    #expect(throws: ByteFormatError.self) { try reader.queryValue() }
  }

  /// Requests and what identifies the digests of each, in containers with names of 16 lengths.
  private static let digests: [(request: CloudRequest, digest: String)] = {
    let other = ZoneID(name: "b", owner: "_o")
    var save = fresh("a", ["n": .int64(1), "t": .string("text")], parent: "p", tag: "t")
    save.policy = .allKeys
    save.clearsOtherFields = true
    let asset = FieldValue.asset(Asset(checksum: "c", size: 3, receipt: "r"))
    save.changes += [
      .init(key: "f", field: Field(asset)), .init(key: "gone", field: nil),
      .init(key: "fs", field: Field(.list([asset]))),
      .init(key: "e", field: Field(.string("x"), isEncrypted: true)),
    ]
    var records = ModifyRecords(
      save: [save], delete: [id("d"), id("e")], policy: .changedKeys, isAtomic: false,
      fields: .keys(["n", "t"]))
    records.deleteTags[id("d")] = ChangeTag("u")
    var share = fresh("S", type: ShareDetails.recordType)
    share.parent = .set(nil)
    share.sharing = ShareDetails(root: id("a"))
    let all = ModifyRecords(save: [share, fresh("b")])
    let none = ModifyRecords(save: [fresh("b")], fields: FieldSelection.none)
    let subscription = Subscription(id: SubscriptionID("s"), kind: .zone(other, recordType: "T"))
    return [
      (.modifyZones(ModifyZones(save: [ZoneID(name: "a")], delete: [other])), "a1c7c2346554eed7"),
      (.modifyRecords(records), "1b3c331f7a70aff1"), (.modifyRecords(all), "7953824b98edb891"),
      (.modifyRecords(none), "d53d1522f3d83221"),
      (
        .modifySubscriptions(
          ModifySubscriptions(save: [subscription], delete: [SubscriptionID("t")])),
        "55163c08d5ca5a4e"
      ),
      (.acceptShares(["u", "v"]), "46bc5c43d30c4b84"),
      (.uploadAsset(UploadAsset(recordType: "T", key: "k", content: [])), "cae7baeb7ee74c8b"),
    ]
  }()

  @Test("The digest of a request is the same in every version, since receipts are kept")
  func digestIsTheSameInEveryVersion() {
    var all: Set<[UInt8]> = []
    for (request, wanted) in Self.digests {
      var bytes: [UInt8] = []
      for length in 1...16 {
        let call = CloudCall(
          container: String(repeating: "c", count: length), database: .private, requestID: "1",
          request: request)
        #expect(call.digest.count == CloudCall.digestLength && all.insert(call.digest).inserted)
        bytes += call.digest
      }
      let found = SHA256.hexadecimal(of: bytes).prefix(16)
      #expect(found == wanted, "\(found) for \(request)")
    }
  }
}
