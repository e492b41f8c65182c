import CloudProtocol
import Records

/// The zone `Notes` of Alice, as others spell it.
private func visited(_ alice: UserID) -> ZoneID { ZoneID(name: notes.name, owner: alice.rawValue) }

/// A share of the record `root` with Bob in it, who may do as `permission` says.
private func shareRecord(of root: String, _ permission: SharePermission) -> Record {
  var record = Record(id: noteID("Share"), type: ShareDetails.recordType)
  let bob = UserIdentity(lookup: .email("bob@example.com"))
  record.sharing = ShareDetails(
    root: noteID(root),
    participants: [ShareParticipant(id: "bob", identity: bob, permission: permission)])
  return record
}

extension Visitor {
  /// The account that is signed in.
  fileprivate func user() async -> UserID {
    guard case .success(.currentUser(let user)) = await ask(.fetchCurrentUser) else {
      return UserID("nobody")
    }
    return user
  }

  /// Alice makes the zone and shares what stands under `list`; the answer is the URL.
  fileprivate func share(with permission: SharePermission = .readWrite) async -> String {
    _ = await make(notes)
    var item = note("item")
    item.parent = noteID("list")
    _ = await save([note("list"), item, note("diary"), shareRecord(of: "list", permission)])
    return await read(noteID("Share"))?.sharing?.url ?? "none"
  }

  /// A zone's whole feed in the shared database.
  fileprivate func visit(_ zone: ZoneID, since token: ChangeToken? = nil) async
    -> (text: String, token: ChangeToken?)
  {
    var token = token
    var names: [String] = []
    while true {
      let request = FetchZoneChanges(zone: zone, since: token)
      let answer = await ask(.fetchZoneChanges(request), database: .shared)
      guard case .success(.zoneChanges(let page)) = answer else { return (short(answer), nil) }
      names += page.modified.map { "+\($0.id.name)" } + page.deleted.map { "-\($0.id.name)" }
      token = page.token
      if !page.moreComing { return (names.sorted().joined(separator: " "), token) }
    }
  }

  fileprivate func write(_ record: Record, delete: [RecordID] = []) async -> String {
    await tell(
      .modifyRecords(
        ModifyRecords(save: [RecordSave(record)], delete: delete, policy: .changedKeys)),
      database: .shared)
  }
}

extension Scenario {
  static let shares = [
    Scenario("share, acceptShare: resolve, join, read, write, leave") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      let zone = visited(await phone.user())
      let url = await phone.share()
      let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      for (visitor, database) in [(phone, DatabaseScope.private), (other, .shared)] {
        _ = await visitor.tell(
          .modifySubscriptions(ModifySubscriptions(save: [subscription])), database: database)
      }
      story.step("before", await other.visit(zone).text, is: "!zoneNotFound")
      let resolve = CloudRequest.resolveShares(ResolveShares(urls: [url], rootFields: .all))
      guard case .success(.sharesResolved(let found)) = await other.ask(resolve) else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      story.step("root", found.first?.value?.root?.id.name ?? "none", is: "list")
      _ = service.takePushes()
      story.step("join", await other.tell(.acceptShares([url])), is: "+\(url)")
      story.step(
        "joined", service.takePushes().sorted().joined(separator: ", "),
        is: "phone all -, tablet all -")
      story.step(
        "zones", await other.tell(.fetchZones(nil), database: .shared), is: "=Notes")
      let first = await other.visit(zone)
      story.step("read", first.text, is: "+Share +item +list")
      var mine = note("mine", in: zone)
      mine.parent = RecordID(name: "list", zone: zone)
      story.step("write", await other.write(mine), is: "+mine")
      story.step(
        "owner hears", service.takePushes().sorted().joined(separator: ", "),
        is: "phone all -, tablet all -")
      story.step(
        "owner sees", await phone.read(noteID("mine"))?.parent?.name ?? "none", is: "list")
      var more = note("more")
      more.parent = noteID("mine")
      story.step("owner writes", await phone.save([more]), is: "+more")
      story.step(
        "bob hears", service.takePushes().sorted().joined(separator: ", "),
        is: "other all -, tablet all -")
      story.step("news", await other.visit(zone, since: first.token).text, is: "+mine +more")
      story.step(
        "saveSharedRecordWithoutParent", await other.write(note("loose", in: zone)),
        is: "+loose!permissionFailure")
      let leave = ModifyRecords(delete: [RecordID(name: "Share", zone: zone)])
      story.step(
        "leave", await other.tell(.modifyRecords(leave), database: .shared), is: "-Share")
      story.step("after", await other.visit(zone).text, is: "!zoneNotFound")
      story.step("the share stays", "\(await phone.read(noteID("Share")) != nil)", is: "true")
      _ = service.takePushes()
    },
    Scenario("a read-only participant, revoked in the end") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      let zone = visited(await phone.user())
      let url = await phone.share(with: .readOnly)
      story.step("join", await other.tell(.acceptShares([url])), is: "+\(url)")
      story.step("read", await other.visit(zone).text, is: "+Share +item +list")
      story.step(
        "write", await other.write(note("item", in: zone)), is: "+item!permissionFailure")
      guard var stored = await phone.read(noteID("Share")) else {
        return story.step("the share", "gone", is: "there")
      }
      stored.sharing?.participants.removeAll { $0.role != .owner }
      story.step("revoke", await phone.save([stored]), is: "+Share")
      story.step("after", await other.visit(zone).text, is: "!zoneNotFound")
      story.step(
        "join again", await other.tell(.acceptShares([url])), is: "+\(url)!permissionFailure")
      story.step(
        "unknown", await other.tell(.acceptShares(["https://share.cloudsync.example/1"])),
        is: "+https://share.cloudsync.example/1!unknownItem")
    },
    Scenario("records move in and out of what is shared; the owner ends it") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      let zone = visited(await phone.user())
      _ = await other.tell(.acceptShares([await phone.share()]))
      var token = await other.visit(zone).token
      guard var diary = await phone.read(noteID("diary")) else {
        return story.step("the diary", "gone", is: "there")
      }
      diary.parent = noteID("item")
      story.step("in", await phone.save([diary]), is: "+diary")
      var news = await other.visit(zone, since: token)
      story.step("came", news.text, is: "+diary")
      token = news.token
      var out = RecordSave(await phone.read(noteID("item")) ?? diary)
      out.parent = .set(nil)
      story.step(
        "out", await phone.tell(.modifyRecords(ModifyRecords(save: [out]))), is: "+item")
      news = await other.visit(zone, since: token)
      story.step("went", news.text, is: "-diary -item")
      story.step("stop", await phone.save([], delete: [noteID("Share")]), is: "-Share")
      story.step("after", await other.visit(zone).text, is: "!zoneNotFound")
      let zones = await other.ask(
        .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)), database: .shared)
      story.step("no zones", short(zones), is: "zones 0 0")
    },
  ]
}
