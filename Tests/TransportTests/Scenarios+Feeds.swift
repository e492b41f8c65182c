import CloudProtocol
import Records

extension Scenario {
  static let feeds = [
    Scenario("paging: every change once, whatever the page") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step(
        "save", await phone.save((1...5).map { note("n\($0)") }), is: "+n1 +n2 +n3 +n4 +n5")
      story.step("server's page", await phone.changes(of: notes).text, is: "+n1 +n2 +n3|+n4 +n5")
      story.step(
        "own page", await phone.changes(of: notes, limit: 2).text, is: "+n1 +n2|+n3 +n4|+n5")
      let token = await phone.changes(of: notes).token
      story.step("nothing new", await phone.changes(of: notes, since: token).text, is: "")
      guard var record = await phone.read(noteID("n2")) else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      record.fields["text"] = Field(.string("again"))
      story.step(
        "change, delete", await phone.save([record], delete: [noteID("n4")]), is: "+n2 -n4")
      let tablet = Visitor(service, "tablet", "alice")
      story.step("what is new", await tablet.changes(of: notes, since: token).text, is: "+n2 -n4")
      story.step("from nothing", await tablet.changes(of: notes).text, is: "+n1 +n3 +n5|+n2")
    },
    Scenario("tokens: forged, foreign and expired ones are refused, never misread") {
      service, story in
      let phone = Visitor(service, "phone", "alice")
      let tasks = ZoneID(name: "Tasks")
      story.step("make zones", await phone.make(notes, tasks), is: "+Notes +Tasks")
      story.step("save", await phone.save([note("a")]), is: "+a")
      let token = await phone.changes(of: notes).token
      let expired = "!changeTokenExpired"
      story.step("another zone", await phone.changes(of: tasks, since: token).text, is: expired)
      story.step("a zone's for a database", await phone.zoneChanges(since: token).text, is: expired)
      for index in [0, 12, (token?.bytes.count ?? 1) - 1] {
        var forged = token
        forged?.bytes[index] ^= 1
        story.step("forged", await phone.changes(of: notes, since: forged).text, is: expired)
      }
      story.step(
        "empty", await phone.changes(of: notes, since: ChangeToken(bytes: [])).text, is: expired)
      try service.administer(.expireTokens(notes), of: "alice")
      story.step("expired", await phone.changes(of: notes, since: token).text, is: expired)
      story.step("from nothing", await phone.changes(of: notes).text, is: "+a")
      let zones = await phone.zoneChanges().token
      try service.administer(.expireTokens(nil), of: "alice")
      story.step("database", await phone.zoneChanges(since: zones).text, is: expired)
    },
    Scenario("tombstones trimmed: a token that saw them goes on, an older one expires") {
      service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a"), note("b")]), is: "+a +b")
      let old = await phone.changes(of: notes).token
      story.step("delete", await phone.save([], delete: [noteID("a")]), is: "-a")
      let new = await phone.changes(of: notes, since: old).token
      try service.administer(.trim(notes), of: "alice")
      story.step("old", await phone.changes(of: notes, since: old).text, is: "!changeTokenExpired")
      story.step("new", await phone.changes(of: notes, since: new).text, is: "")
      story.step("delete once more", await phone.save([], delete: [noteID("b")]), is: "-b")
      story.step("later", await phone.changes(of: notes, since: new).text, is: "-b")
    },
  ]

  static let zones = [
    Scenario("zones: made once, listed, paged, deleted") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let all = ["A", "B", "C"].map { ZoneID(name: $0) }
      story.step("make", await phone.make(all[0], all[1], all[2]), is: "+A +B +C")
      story.step("make again", await phone.make(all[0]), is: "+A")
      story.step("feed", await phone.zoneChanges().text, is: "+A +B|+C")
      let token = await phone.zoneChanges().token
      story.step("save", await phone.save([note("a", in: all[1])]), is: "+a")
      story.step("changed", await phone.zoneChanges(since: token).text, is: "+B")
      story.step(
        "delete", await phone.tell(.modifyZones(ModifyZones(delete: [all[1]]))), is: "-B")
      story.step("gone", await phone.zoneChanges(since: token).text, is: "-B:deleted")
      story.step(
        "deleteUnknownZone", await phone.tell(.modifyZones(ModifyZones(delete: [all[1]]))),
        is: "-B!zoneNotFound")
      story.step("list", await phone.tell(.fetchZones(nil)), is: "=_defaultZone =A =C")
      story.step("made anew", await phone.make(all[1]), is: "+B")
      story.step("it is empty", await phone.changes(of: all[1]).text, is: "")
    },
    Scenario("a zone deleted, purged or reset: each kind is told apart") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let kinds: [(String, @Sendable (ZoneID) -> Act, String)] = [
        ("deleted", { .delete($0) }, "zoneNotFound"), ("purged", { .purge($0) }, "userDeletedZone"),
        ("encryptedDataReset", { .resetEncryptedData($0) }, "zoneNotFound"),
      ]
      for (name, act, code) in kinds {
        let zone = ZoneID(name: name)
        story.step("make \(name)", await phone.make(zone), is: "+\(name)")
        story.step("save", await phone.save([note("a", in: zone)]), is: "+a")
        let token = await phone.zoneChanges().token
        let inside = await phone.changes(of: zone).token
        try service.administer(act(zone), of: "alice")
        story.step("feed", await phone.zoneChanges(since: token).text, is: "-\(name):\(name)")
        let answer = await phone.ask(
          .modifyRecords(ModifyRecords(save: [RecordSave(note("b", in: zone))])))
        story.step("save", short(answer), is: "+b!\(code)")
        if case .success(.recordsModified(let saved, _)) = answer {
          story.step(
            "reset?", "\(saved.first?.error?.userDidResetEncryptedData == true)",
            is: "\(name == "encryptedDataReset")")
        }
        story.step("make again", await phone.make(zone), is: "+\(name)")
        story.step(
          "old token", await phone.changes(of: zone, since: inside).text, is: "!changeTokenExpired")
        story.step("empty", await phone.changes(of: zone).text, is: "")
      }
    },
  ]

  static let pushes = [
    Scenario("pushes go to the account's other devices only") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let tablet = Visitor(service, "tablet", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      let subscriptions = [
        Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil)),
        Subscription(id: SubscriptionID("one"), kind: .zone(notes, recordType: "Other")),
      ]
      story.step(
        "subscribe",
        await phone.tell(.modifySubscriptions(ModifySubscriptions(save: subscriptions))),
        is: "+all +one")
      story.step("none yet", service.takePushes().joined(separator: ","), is: "")
      story.step("save", await phone.save([note("a")]), is: "+a")
      story.step("to the tablet", service.takePushes().joined(separator: ","), is: "tablet all -")
      var other = note("b")
      other.type = "Other"
      story.step("another type", await tablet.save([other]), is: "+b")
      story.step(
        "to the phone", service.takePushes().joined(separator: ","),
        is: "phone all -,phone one Notes"
      )
      story.step("failed", await phone.save([note("a")]), is: "+a!serverRecordChanged")
      story.step("none", service.takePushes().joined(separator: ","), is: "")
      try service.administer(.purge(notes), of: "alice")
      story.step(
        "to both", service.takePushes().joined(separator: ","), is: "phone all -,tablet all -")
      story.step(
        "list", await tablet.tell(.fetchSubscriptions(nil)), is: "=all =one")
      story.step(
        "unsubscribe",
        await phone.tell(
          .modifySubscriptions(ModifySubscriptions(delete: [SubscriptionID("all")]))), is: "-all")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a")]), is: "+a")
      story.step("none", service.takePushes().joined(separator: ","), is: "")
    }
  ]
}
