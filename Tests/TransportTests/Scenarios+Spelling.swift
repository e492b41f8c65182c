import CloudProtocol
import Records

extension Scenario {
  static let spelling = [
    Scenario("a zone of one's own is one zone under both of its names") { service, story in
      let phone = Visitor(service, "phone", "alice")
      guard case .success(.currentUser(let user)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      let plain = ZoneID(name: "Notes")
      let named = ZoneID(name: "Notes", owner: user.rawValue)
      for (asked, other) in [(named, plain), (plain, named)] {
        try await tellZones(phone, asked, story)
        try await tellRecords(phone, asked, other, story)
        try await tellFeeds(phone, asked, story)
        story.step(
          "delete", await phone.zones(.modifyZones(ModifyZones(delete: [asked]))), is: "asked")
        story.step("pushes", "\(Set(service.takePushes()))", is: #"["tablet zone Notes"]"#)
      }
      let nobody = ZoneID(name: "Notes", owner: "")
      story.step(
        "an empty owner", await phone.tell(.modifyZones(ModifyZones(save: [nobody]))),
        is: "+Notes!invalidArguments")
      story.step(
        "a record there", await phone.save([note("a", in: nobody)]), is: "+a!invalidArguments")
    },
    Scenario("both names of a zone in one request") { service, story in
      let phone = Visitor(service, "phone", "alice")
      guard case .success(.currentUser(let user)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      let named = ZoneID(name: "Notes", owner: user.rawValue)
      story.step("make zone", await phone.make(notes), is: "+Notes")
      let saves = [note("a"), note("b", in: named)]
      story.step("save", await phone.records(saving: saves), is: "a asked, b asked")
      let ids = [noteID("b"), RecordID(name: "b", zone: named), RecordID(name: "a", zone: named)]
      story.step(
        "fetch", await phone.records(fetching: ids), is: "b asked, b asked, a asked")
      story.step(
        "the same record twice", await phone.save([note("c"), note("c", in: named)]),
        is: "!invalidArguments")
      story.step(
        "delete", await phone.save([], delete: [noteID("a"), ids[1]]), is: "-a -b")
      story.step("what went", await phone.changes(of: named).text, is: "-a -b")
    },
    Scenario("what a request holds is resolved under the user's own name") { service, story in
      let phone = Visitor(service, "phone", "alice")
      guard case .success(.currentUser(let user)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      let named = ZoneID(name: "Notes", owner: user.rawValue)
      func id(_ name: String) -> RecordID { RecordID(name: name, zone: named) }
      story.step("make zone", await phone.make(notes), is: "+Notes")
      let upload = UploadAsset(recordType: "Note", key: "file", content: [1, 2, 3])
      guard case .success(.assetUploaded(let asset)) = await phone.ask(.uploadAsset(upload)) else {
        return story.step("the answer", "another one", is: "an asset")
      }
      var root = note("root", in: named)
      root.fields["file"] = Field(.asset(asset))
      var child = note("child", in: named)
      child.parent = root.id
      child.fields["to"] = Field(.reference(Reference(target: root.id, action: .none)))
      story.step(
        "save", await phone.records(saving: [root, child]), is: "root asked, child asked")
      story.step(
        "parent", await phone.read(child.id)?.parent == root.id ? "asked" : "another", is: "asked")
      let download = DownloadAsset(record: root.id, key: "file", checksum: asset.checksum)
      guard case .success(.assetContent(let content)) = await phone.ask(.downloadAsset(download))
      else { return story.step("download", "another answer", is: "the file") }
      story.step("download", content == [1, 2, 3] ? "the file" : "\(content)", is: "the file")
      let filter = Query.Filter(
        key: "to", comparator: .equals,
        value: .reference(Reference(target: root.id, action: .none)))
      let query = Query(recordType: "Note", filters: [filter])
      story.step(
        "query", await phone.records(.queryRecords(.init(query: query, zone: named)), in: named),
        is: "child asked")
      guard let stored = await phone.read(root.id) else { return }
      let share = RecordSave(
        id: id("S"), type: ShareDetails.recordType, changes: [],
        sharing: ShareDetails(root: root.id))
      story.step(
        "share",
        await phone.tell(.modifyRecords(ModifyRecords(save: [RecordSave(stored), share]))),
        is: "+root +S")
      var request = ModifyRecords(delete: [child.id])
      request.deleteTags = [child.id: ChangeTag("old")]
      story.step(
        "delete another version", await phone.tell(.modifyRecords(request)),
        is: "-child!serverRecordChanged")
    },
    Scenario("one's own changes are by the current owner, those of others by their names") {
      service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      guard case .success(.currentUser(let bob)) = await other.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      let mine = note("mine", in: .default)
      story.step("save", await phone.stamps(.modifyRecords(saving(mine))), is: "own own")
      let theirs = note("theirs", in: .default)
      story.step("bob saves", await other.stamps(.modifyRecords(saving(theirs))), is: "own own")
      let fetch = CloudRequest.fetchRecords(FetchRecords(ids: [theirs.id]))
      story.step(
        "alice reads", await phone.stamps(fetch), is: "\(bob.rawValue) \(bob.rawValue)")
      story.step("bob reads", await other.stamps(fetch), is: "own own")
      let author = RecordID(name: ZoneID.currentOwner, zone: .default)
      let query = Query(
        recordType: "Note",
        filters: [
          Query.Filter(
            key: "___createdBy", comparator: .equals,
            value: .reference(Reference(target: author, action: .none)))
        ])
      story.step(
        "alice's own", await phone.stamps(.queryRecords(QueryRecords(query: query))), is: "own own")
    },
    Scenario("every account has a user record") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      guard case .success(.currentUser(let user)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      let id = RecordID(name: user.rawValue, zone: .default)
      for scope in [DatabaseScope.private, .public] {
        guard var record = await phone.record(id, in: scope) else {
          return story.step("fetch in \(scope)", "nothing", is: "a record")
        }
        story.step("type", record.type, is: "Users")
        story.step("fields", "\(record.fields.count)", is: "0")
        record.fields["color"] = Field(.string("red"))
        story.step("save", await phone.save(record, in: scope), is: "ok")
        story.step(
          "save the old one", await phone.save(record, in: scope), is: "serverRecordChanged")
        let own = RecordID(name: ZoneID.currentOwner, zone: .default)
        let again = await phone.record(own, in: scope)
        story.step("the other name", again?.id == own ? "asked" : "another", is: "asked")
        story.step("color", "\(again?.fields["color"]?.value == .string("red"))", is: "true")
        let fresh = Record(id: id, type: "Users")
        story.step("make", await phone.save(fresh, in: scope), is: "serverRecordChanged")
        let stranger = Record(id: RecordID(name: "u", zone: .default), type: "Users")
        story.step("another", await phone.save(stranger, in: scope), is: "permissionFailure")
        story.step(
          "delete",
          await phone.tell(.modifyRecords(ModifyRecords(delete: [id])), database: scope),
          is: "-\(user.rawValue)!permissionFailure")
        let query = QueryRecords(query: Query(recordType: "Users"), zone: .default)
        story.step(
          "query", await phone.tell(.queryRecords(query), database: scope), is: "!invalidArguments")
      }
      story.step(
        "bob reads in public",
        await other.record(id, in: .public)?.fields["color"] == nil ? "nothing" : "red", is: "red")
      story.step(
        "bob reads in private", await other.record(id, in: .private) == nil ? "nothing" : "it",
        is: "nothing")
      guard var seen = await other.record(id, in: .public) else { return }
      seen.fields["color"] = Field(.string("blue"))
      story.step("bob saves", await other.save(seen, in: .public), is: "permissionFailure")
    },
    Scenario("a participant who was removed finds no zone") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      guard case .success(.currentUser(let alice)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "who asks")
      }
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a")]), is: "+a")
      var share = RecordSave(
        id: noteID(ShareDetails.zoneWideName), type: ShareDetails.recordType, changes: [],
        sharing: ShareDetails(root: nil, publicPermission: .readWrite, participants: []))
      guard
        case .success(.recordsModified(let saved, _)) = await phone.ask(
          .modifyRecords(ModifyRecords(save: [share]))),
        let stored = saved.first?.value, let url = stored.sharing?.url
      else { return story.step("share", "failed", is: "saved") }
      story.step(
        "accept", await other.tell(.acceptShares([url]), database: .shared), is: "+\(url)")
      let theirs = ZoneID(name: "Notes", owner: alice.rawValue)
      let edit = CloudRequest.modifyRecords(saving(note("b", in: theirs)))
      story.step("bob saves", await other.tell(edit, database: .shared), is: "+b")
      share.changeTag = stored.changeTag
      share.sharing?.publicPermission = .none
      guard
        case .success(.records(let found)) = await phone.ask(
          .fetchRecords(FetchRecords(ids: [share.id]))), let latest = found.first?.value
      else { return story.step("the share", "gone", is: "there") }
      share.changeTag = latest.changeTag
      story.step(
        "close", await phone.tell(.modifyRecords(ModifyRecords(save: [share]))),
        is: "+\(ShareDetails.zoneWideName)")
      let later = CloudRequest.modifyRecords(saving(note("c", in: theirs)))
      story.step(
        "bob saves again", await other.tell(later, database: .shared), is: "+c!zoneNotFound")
      story.step(
        "bob deletes",
        await other.tell(
          .modifyRecords(ModifyRecords(delete: [RecordID(name: "a", zone: theirs)])),
          database: .shared), is: "-a!zoneNotFound")
      story.step(
        "bob fetches",
        await other.tell(
          .fetchZoneChanges(FetchZoneChanges(zone: theirs, since: nil)), database: .shared),
        is: "!zoneNotFound")
    },
  ]

  private static func saving(_ record: Record) -> ModifyRecords {
    ModifyRecords(save: [RecordSave(record)])
  }

  private static func tellZones(
    _ phone: Visitor, _ asked: ZoneID, _ story: Story
  ) async throws {
    story.step("make", await phone.zones(.modifyZones(ModifyZones(save: [asked]))), is: "asked")
    story.step("look", await phone.zones(.fetchZones([asked])), is: "asked")
    let subscription = Subscription(
      id: SubscriptionID("zone"), kind: .zone(asked, recordType: nil))
    story.step(
      "subscribe",
      await phone.tell(.modifySubscriptions(ModifySubscriptions(save: [subscription]))),
      is: "+zone")
  }

  private static func tellRecords(
    _ phone: Visitor, _ asked: ZoneID, _ other: ZoneID, _ story: Story
  ) async throws {
    story.step("save", await phone.records(saving: [note("a", in: asked)]), is: "a asked")
    story.step(
      "fetch", await phone.records(fetching: [RecordID(name: "a", zone: asked)]), is: "a asked")
    // The tag of the other spelling's record is that of this one.
    guard var record = await phone.read(RecordID(name: "a", zone: other)) else {
      return story.step("read", "nothing", is: "a record")
    }
    let old = record
    record.id.zone = asked
    record.fields["text"] = Field(.string("new"))
    record.fields["to"] = Field(
      .reference(Reference(target: RecordID(name: "a", zone: other), action: .none)))
    story.step("change", await phone.records(saving: [record]), is: "a asked")
    story.step("conflict", await phone.conflict(saving: old), is: "asked")
    story.step(
      "query",
      await phone.records(
        .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: asked)), in: asked),
      is: "a asked")
    story.step(
      "share",
      await phone.tell(
        .modifyRecords(
          ModifyRecords(save: [
            RecordSave(
              id: RecordID(name: ShareDetails.zoneWideName, zone: asked),
              type: ShareDetails.recordType, changes: [], sharing: ShareDetails(root: nil))
          ]))), is: "+\(ShareDetails.zoneWideName)")
  }

  private static func tellFeeds(
    _ phone: Visitor, _ asked: ZoneID, _ story: Story
  ) async throws {
    let feed = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: asked, since: nil))
    story.step(
      "changes", await phone.records(feed, in: asked),
      is: "a asked, \(ShareDetails.zoneWideName) asked")
    story.step(
      "delete", await phone.save([], delete: [RecordID(name: "a", zone: asked)]), is: "-a")
  }
}

extension Visitor {
  /// Whether each zone of the answer is named as it was asked for.
  fileprivate func zones(_ request: CloudRequest) async -> String {
    var asked: [ZoneID] = []
    var found: [ItemResult<ZoneID, Zone>] = []
    switch (request, await ask(request)) {
    case (.fetchZones(let zones), .success(.zones(let results))):
      asked = zones ?? []
      found = results
      for (zone, result) in zip(asked, results) where result.value?.id != zone { return "another" }
    case (.modifyZones(let request), .success(.zonesModified(let saved, let deleted))):
      asked = request.save + request.delete
      found = saved
      if deleted.map(\.id) != request.delete || deleted.contains(where: { $0.error != nil }) {
        return "another deletion"
      }
      return saved.map(\.id) == request.save && saved.allSatisfy { $0.value?.id == $0.id }
        ? "asked" : "another"
    case (_, let answer): return short(answer)
    }
    return found.map(\.id) == asked ? "asked" : "another"
  }

  fileprivate func records(saving records: [Record]) async -> String {
    let saves = records.map { RecordSave($0) }
    let answer = await ask(.modifyRecords(ModifyRecords(save: saves)))
    guard case .success(.recordsModified(let results, _)) = answer else { return short(answer) }
    return Visitor.words(results, asked: records.map(\.id))
  }

  fileprivate func records(fetching ids: [RecordID]) async -> String {
    let answer = await ask(.fetchRecords(FetchRecords(ids: ids)))
    guard case .success(.records(let results)) = answer else { return short(answer) }
    return Visitor.words(results, asked: ids)
  }

  private static func words(
    _ results: [ItemResult<RecordID, Record>], asked: [RecordID]
  ) -> String {
    zip(results, asked).map { result, id in
      guard result.id == id, result.value?.id == id else { return "\(id.name) another" }
      return "\(id.name) asked"
    }.joined(separator: ", ")
  }

  /// The records of an answer that are in `zone` by that very name, with what they refer to.
  fileprivate func records(_ request: CloudRequest, in zone: ZoneID) async -> String {
    let records: [Record]
    switch await ask(request) {
    case .success(.zoneChanges(let page)) where page.zone == zone: records = page.modified
    case .success(.queried(let page)): records = page.records
    case let answer: return short(answer)
    }
    return records.map { record in
      var isAsked = record.id.zone == zone
      if case .reference(let reference)? = record.fields["to"]?.value {
        isAsked = isAsked && reference.target.zone == zone
      }
      return "\(record.id.name) \(isAsked ? "asked" : "another")"
    }.joined(separator: ", ")
  }

  /// The name of the conflicting record.
  fileprivate func conflict(saving record: Record) async -> String {
    let answer = await ask(.modifyRecords(ModifyRecords(save: [RecordSave(record)])))
    guard case .success(.recordsModified(let results, _)) = answer else { return short(answer) }
    return results.first?.error?.serverRecord?.id == record.id ? "asked" : "another"
  }

  /// The creator and the last modifier of the one record of a response.
  fileprivate func stamps(_ request: CloudRequest) async -> String {
    let record: Record?
    switch await ask(request, database: .public) {
    case .success(.recordsModified(let saved, _)): record = saved.first?.value
    case .success(.records(let results)): record = results.first?.value
    case .success(.queried(let page)): record = page.records.first
    case let answer: return short(answer)
    }
    return [record?.created, record?.modified].map { stamp in
      stamp?.user.rawValue == ZoneID.currentOwner ? "own" : stamp?.user.rawValue ?? "none"
    }.joined(separator: " ")
  }

  fileprivate func record(_ id: RecordID, in scope: DatabaseScope) async -> Record? {
    let answer = await ask(.fetchRecords(FetchRecords(ids: [id])), database: scope)
    guard case .success(.records(let results)) = answer else { return nil }
    return results.first?.value
  }

  fileprivate func save(_ record: Record, in scope: DatabaseScope) async -> String {
    let answer = await ask(
      .modifyRecords(ModifyRecords(save: [RecordSave(record)])), database: scope)
    guard case .success(.recordsModified(let saved, _)) = answer, let result = saved.first else {
      return short(answer)
    }
    return result.error.map { "\($0.code)" } ?? "ok"
  }
}
