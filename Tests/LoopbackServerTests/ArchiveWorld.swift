import CloudProtocol
import Foundation
import Records

@testable import LoopbackServer

/// A server that holds some of everything, and what its devices got from it.
struct ArchiveWorld: Sendable {
  let server: LoopbackServer
  var databaseToken = ChangeToken(bytes: [])
  var zoneToken = ChangeToken(bytes: [])
  var visitToken = ChangeToken(bytes: [])
  var cursor: QueryCursor?
  var url = ""
  var checksum = ""
  var pending: Asset?
  /// A request that changed something, and what was answered.
  var repeated = call("", .fetchCurrentUser)
  var answer: CloudReply = .assetContent([])

  struct Unexpected: Error {
    var line: Int
    var errors: [CloudError]

    init(_ errors: [CloudError] = [], line: Int = #line) {
      self.line = line
      self.errors = errors
    }
  }

  /// Sends a request, no item of which may fail.
  @discardableResult
  static func send(
    _ call: CloudCall, from device: LoopbackDevice, line: Int = #line
  ) async throws -> CloudReply {
    let reply = try await device.send(call)
    let errors: [CloudError?] =
      switch reply {
      case .zonesModified(let saved, let deleted): saved.map(\.error) + deleted.map(\.error)
      case .recordsModified(let saved, let deleted): saved.map(\.error) + deleted.map(\.error)
      case .subscriptionsModified(let saved, let deleted):
        saved.map(\.error) + deleted.map(\.error)
      case .sharesAccepted(let results): results.map(\.error)
      case .currentUser, .databaseChanges, .zoneChanges, .zones, .records, .subscriptions,
        .queried, .sharesResolved, .usersFound, .assetUploaded, .assetContent:
        []
      }
    let found = errors.compactMap { $0 }
    guard found.isEmpty else { throw Unexpected(found, line: line) }
    return reply
  }

  static let odd: Fields = [
    "nan": .double(Double(bitPattern: 0x7ff8_0000_0000_0001)), "minus": .double(-0.0),
    "infinite": .double(-.infinity), "tiny": .double(.leastNonzeroMagnitude), "tenth": .double(0.1),
    "large": .int64(.min), "nul": .string("a\0b"), "composed": .string("\u{e9}"),
    "decomposed": .string("e\u{301}"), "mark": .string("\u{301}\"\\/\u{7f}\r\n\t"),
    "lines": .string("\u{85}\u{2028}\u{2029}\u{feff}\u{10ffff}"), "empty": .string(""),
    "date": .date(Timestamp(secondsSinceReferenceDate: 123_456_789.000_000_1)),
    "far": .date(Timestamp(secondsSinceReferenceDate: -1e300)),
    "never": .date(Timestamp(secondsSinceReferenceDate: .nan)),
    "bytes": .bytes(Array(0...255)), "none": .bytes([]),
    "place": .location(
      Location(latitude: -0.0, longitude: 179.9, timestamp: .init(secondsSinceReferenceDate: 0.5))),
    "list": .list([.string("x"), .string("e\u{301}")]),
    "to": .reference(Reference(target: RecordID(name: "root", zone: zoneA), action: .none)),
  ]

  static func device(_ name: String, on server: LoopbackServer) -> LoopbackDevice {
    server.device(name, signedInAs: name == "other" ? "bob" : "alice")
  }

  /// Fills `server`, which is empty, by requests and as an administrator does.
  init(filling server: LoopbackServer) async throws {
    self.server = server
    let phone = Self.device("phone", on: server)
    let other = Self.device("other", on: server)
    let gone = ZoneID(name: "gone")
    let purged = ZoneID(name: "purged")
    try server.controls.setPerson(
      of: "alice", email: "a@b.c", phone: "+1", givenName: "\u{c5}lice", familyName: "A\u{30a}")
    try server.controls.setQuota(1 << 40, of: "alice")
    try await Self.send(
      call("z", .modifyZones(ModifyZones(save: [zoneA, zoneB, gone, purged]))), from: phone)
    try await Self.send(call("d", .modifyZones(ModifyZones(delete: [gone]))), from: phone)
    try server.controls.purgeZone(purged, container: "c", account: "alice")
    try await fillRecords(phone)
    try await share(phone, with: other)
    try await subscribe(phone, other)
    try await remember(phone, other)
    try server.controls.setIndexes(
      of: "nul", recordType: "T", container: "c", queryable: true, sortable: false,
      searchable: false)
    try server.controls.deploySchema(container: "c")
  }

  private mutating func fillRecords(_ phone: LoopbackDevice) async throws {
    let odd = Record(id: RecordID(name: "odd", zone: zoneA), type: "T", fields: Self.odd)
    try await Self.send(
      call("odd", .modifyRecords(ModifyRecords(save: [RecordSave(odd)]))), from: phone)
    var hidden = Record(id: RecordID(name: "hidden", zone: zoneB), type: "H")
    hidden.fields["secret"] = Field(.string("s"), isEncrypted: true)
    try await Self.send(
      call("h", .modifyRecords(ModifyRecords(save: [RecordSave(hidden)]))), from: phone)
    for name in ["d1", "d2", "q1", "q2", "q3"] { try await Self.send(saving(name), from: phone) }
    for content in [[1, 2, 3], [], Array(repeating: 7, count: 3000)] as [[UInt8]] {
      let upload = UploadAsset(recordType: "T", key: "file", content: content)
      guard
        case .assetUploaded(let asset) = try await Self.send(
          call("u\(content.count)", .uploadAsset(upload)), from: phone)
      else { throw Unexpected() }
      if pending == nil {
        pending = asset
        continue
      }
      checksum = asset.checksum
      let name = content.isEmpty ? "empty" : "holder"
      let holder = Record(
        id: RecordID(name: name, zone: zoneA), type: "T", fields: ["file": .asset(asset)])
      try await Self.send(
        call(name, .modifyRecords(ModifyRecords(save: [RecordSave(holder)]))), from: phone)
    }
    repeated = call(
      "gone",
      .modifyRecords(
        ModifyRecords(delete: ["d1", "d2"].map { RecordID(name: $0, zone: zoneA) })))
    answer = try await Self.send(repeated, from: phone)
  }

  private mutating func share(
    _ phone: LoopbackDevice, with other: LoopbackDevice
  ) async throws {
    let root = Record(id: RecordID(name: "root", zone: zoneA), type: "T")
    var child = Record(id: RecordID(name: "child", zone: zoneA), type: "T")
    child.parent = root.id
    let guest = ShareParticipant(
      id: "p", identity: UserIdentity(lookup: .email("bob@example.com")), permission: .readWrite)
    let share = RecordSave(
      id: RecordID(name: "share", zone: zoneA), type: ShareDetails.recordType, changes: [],
      sharing: ShareDetails(root: root.id, participants: [guest]))
    guard
      case .recordsModified(let saved, _) = try await Self.send(
        call(
          "share",
          .modifyRecords(ModifyRecords(save: [RecordSave(root), RecordSave(child), share]))),
        from: phone),
      let url = saved.last?.value?.sharing?.url
    else { throw Unexpected() }
    self.url = url
    var accept = call("accept", .acceptShares([url]))
    accept.database = .shared
    guard case .sharesAccepted(let results) = try await Self.send(accept, from: other),
      results.first?.value != nil
    else { throw Unexpected() }
  }

  private func subscribe(_ phone: LoopbackDevice, _ other: LoopbackDevice) async throws {
    let place = Location(latitude: 1, longitude: 2)
    let query = Query(
      recordType: "T",
      filters: [
        Query.Filter(key: "place", comparator: .near, value: .location(place), distance: 0.5),
        Query.Filter(key: "tenth", comparator: .lessThan, value: .double(0.1)),
      ], sorts: [Query.Sort(key: "tenth", ascending: false)])
    let info = Subscription.NotificationInfo(
      alertBody: "e\u{301}", shouldBadge: true, desiredKeys: ["nul"],
      others: ["soundName": .string("s")])
    let watched = Subscription.Kind.query(
      QuerySubscription(query: query, zone: nil, options: [.firesOnRecordUpdate, .firesOnce]))
    for (device, scope, kind) in [
      (phone, .private, .database(recordType: "T")),
      (phone, .private, .zone(zoneA, recordType: nil)),
      (phone, .private, watched), (other, .public, watched),
      (other, .shared, .database(recordType: nil)),
    ] as [(LoopbackDevice, DatabaseScope, Subscription.Kind)] {
      let subscription = Subscription(
        id: SubscriptionID("\(device.name) \(kind)".filter(\.isLetter).prefix(60) + ""),
        kind: kind, notificationInfo: info)
      var request = call(
        "s\(subscription.id.rawValue)\(scope)",
        .modifySubscriptions(ModifySubscriptions(save: [subscription])))
      request.database = scope
      guard case .subscriptionsModified(let saved, _) = try await Self.send(request, from: device),
        saved.first?.value != nil
      else { throw Unexpected() }
    }
    var everyone = saving("everyone")
    everyone.database = .public
    everyone.request = .modifyRecords(
      ModifyRecords(
        save: [
          RecordSave(
            id: RecordID(name: "everyone", zone: .default), type: "P",
            changes: [.init(key: "n", field: Field(.int64(1)))])
        ]))
    everyone.environment = .production
    try await Self.send(everyone, from: phone)
  }

  /// Asks for places in every kind of feed.
  private mutating func remember(_ phone: LoopbackDevice, _ other: LoopbackDevice) async throws {
    guard
      case .databaseChanges(let database) = try await Self.send(
        call("1", .fetchDatabaseChanges(FetchDatabaseChanges(since: nil))), from: phone),
      case .zoneChanges(let zone) = try await Self.send(
        call("2", .fetchZoneChanges(FetchZoneChanges(zone: zoneA, since: nil, limit: 3))),
        from: phone),
      case .zoneChanges(let visit) = try await Self.send(visit(since: nil), from: other),
      case .queried(let page) = try await Self.send(query(nil), from: phone)
    else { throw Unexpected() }
    databaseToken = database.token
    zoneToken = zone.token
    visitToken = visit.token
    cursor = page.cursor
  }

  func visit(since token: ChangeToken?) throws -> CloudCall {
    guard let owner = try server.accounts().first(where: { $0.name == "alice" })?.user else {
      throw Unexpected()
    }
    var request = call(
      "v",
      .fetchZoneChanges(
        FetchZoneChanges(zone: ZoneID(name: "A", owner: owner.rawValue), since: token, limit: 1)))
    request.database = .shared
    return request
  }

  func query(_ cursor: QueryCursor?) -> CloudCall {
    call(
      "q",
      .queryRecords(
        QueryRecords(query: Query(recordType: "T"), zone: zoneA, cursor: cursor, limit: 2)))
  }

  /// The responses of `server` to clients that continue with tokens from here, as text.
  func continued(on server: LoopbackServer) async throws -> [String] {
    let phone = Self.device("phone", on: server)
    let other = Self.device("other", on: server)
    var lines: [String] = []
    for (device, request) in [
      (phone, call("a", .fetchDatabaseChanges(FetchDatabaseChanges(since: databaseToken)))),
      (phone, call("b", .fetchZoneChanges(FetchZoneChanges(zone: zoneA, since: zoneToken)))),
      (other, try visit(since: visitToken)), (phone, query(cursor)), (phone, repeated),
      (
        phone,
        call(
          "c",
          .downloadAsset(
            DownloadAsset(
              record: RecordID(name: "holder", zone: zoneA), key: "file", checksum: checksum)))
      ), (other, shared(.resolveShares(ResolveShares(urls: [url])))),
    ] {
      do { lines.append("\(try await device.send(request))") } catch {
        lines.append("\(error.code)")
      }
    }
    return lines
  }

  private func shared(_ request: CloudRequest) -> CloudCall {
    var call = call("r", request)
    call.database = .shared
    return call
  }
}
