import CloudProtocol
import Records

extension Scenario {
  static let all: [Scenario] = records + feeds + zones + accounts + pushes + shares + spelling

  static let records = [
    Scenario("save, fetch, change, delete") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a"), note("b")]), is: "+a +b")
      story.step(
        "save in a missing zone", await phone.save([note("a", in: .init(name: "No"))]),
        is: "+a!zoneNotFound")
      guard var record = await phone.read(noteID("a")) else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      story.step("device", record.modified?.device ?? "", is: "phone")
      record.fields["text"] = Field(.string("new"))
      story.step("change", await phone.save([record]), is: "+a")
      let changed = await phone.read(noteID("a"))
      story.step("same tag?", "\(changed?.changeTag == record.changeTag)", is: "false")
      story.step("text", "\(changed?.fields["text"]?.value == .string("new"))", is: "true")
      story.step(
        "created before changed",
        "\(isLater(changed?.modified, than: changed?.created))",
        is: "true")
      story.step("delete", await phone.save([], delete: [noteID("a")]), is: "-a")
      story.step("delete again", await phone.save([], delete: [noteID("a")]), is: "-a")
      story.step(
        "fetch", await phone.tell(.fetchRecords(FetchRecords(ids: [noteID("a"), noteID("b")]))),
        is: "=a!unknownItem =b")
      story.step("save what was deleted", await phone.save([record]), is: "+a!unknownItem")
    },
    Scenario("every kind of value comes back bit for bit") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      var record = note("all")
      // An empty list says nothing of its members, so the field must be known from before.
      var first = note("first")
      first.fields["emptyList"] = Field(.list([.string("x")]))
      story.step("save a list", await phone.save([first]), is: "+first")
      let upload = UploadAsset(recordType: record.type, key: "asset", content: [1, 2, 3])
      guard case .success(.assetUploaded(let asset)) = await phone.ask(.uploadAsset(upload)) else {
        return story.step("the answer", "another one", is: "an asset")
      }
      let target = Reference(target: noteID("all"), action: .none)
      let values: [(String, FieldValue)] = [
        ("string", .string("e\u{301} \u{0} 🧭")), ("empty", .string("")), ("int", .int64(.min)),
        ("double", .double(-0.0)), ("nan", .double(.nan)),
        ("date", .date(Timestamp(secondsSinceReferenceDate: 0.1))),
        ("bytes", .bytes([0, 255])), ("none", .bytes([])), ("reference", .reference(target)),
        ("asset", .asset(asset)),
        ("location", .location(Location(latitude: 1.5, longitude: -2))),
        ("list", .list([.int64(1), .int64(2)])), ("emptyList", .list([])),
      ]
      for (key, value) in values { record.fields[key] = Field(value) }
      record.fields["secret"] = Field(.string("s"), isEncrypted: true)
      story.step("save", await phone.save([record]), is: "+all")
      // Once redeemed, the receipt of an upload is not kept.
      record.fields["asset"] = Field(.asset(Asset(checksum: asset.checksum, size: 3)))
      let back = await Visitor(service, "tablet", "alice").read(noteID("all"))
      for element in record.fields where back?.fields[element.key] != element.field {
        story.step(element.key, "\(String(describing: back?.fields[element.key]))", is: "the same")
      }
      story.step("fields", "\(back?.fields.count ?? 0)", is: "\(record.fields.count)")
    },
    Scenario("conflict: the later device gets the true record") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let tablet = Visitor(service, "tablet", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a", "one")]), is: "+a")
      story.step(
        "insert again", await tablet.save([note("a", "two")]), is: "+a!serverRecordChanged")
      guard var stale = await tablet.read(noteID("a")) else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      var fresh = stale
      fresh.fields["text"] = Field(.string("phone"))
      story.step("phone first", await phone.save([fresh]), is: "+a")
      stale.fields["text"] = Field(.string("tablet"))
      let answer = await tablet.ask(.modifyRecords(ModifyRecords(save: [RecordSave(stale)])))
      guard case .success(.recordsModified(let saved, _)) = answer else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      let theirs = saved.first?.error?.serverRecord
      story.step("server record", "\(theirs == (await phone.read(noteID("a"))))", is: "true")
      stale.changeTag = theirs?.changeTag
      story.step("merged", await tablet.save([stale]), is: "+a")
      story.step(
        "overwrite", await phone.save([fresh], policy: .changedKeys), is: "+a")
    },
    Scenario("batchRequestFailed: one stale tag fails an atomic batch, siblings stay out") {
      service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      story.step("save", await phone.save([note("a"), note("c")]), is: "+a +c")
      story.step(
        "atomic", await phone.save([note("a"), note("b")], delete: [noteID("c")]),
        is: "+a!serverRecordChanged +b!batchRequestFailed -c!batchRequestFailed")
      story.step("nothing landed", await phone.changes(of: notes).text, is: "+a +c")
      story.step(
        "not atomic",
        await phone.save([note("a"), note("b")], delete: [noteID("c")], atomic: false),
        is: "+a!serverRecordChanged +b -c")
    },
    Scenario("saveTransaction_ChildNoParent and deletes that draw others along") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      var child = note("child")
      child.parent = noteID("parent")
      story.step("no parent", await phone.save([child]), is: "+child!referenceViolation")
      story.step("both", await phone.save([child, note("parent")]), is: "+child +parent")
      story.step(
        "parent only", await phone.save([], delete: [noteID("parent")]),
        is: "-parent!referenceViolation")
      story.step(
        "both again", await phone.save([], delete: [noteID("parent"), noteID("child")]),
        is: "-parent -child")
      var owned = note("owned")
      owned.fields["owner"] = Field(
        .reference(Reference(target: noteID("owner"), action: .deleteSelf)))
      story.step("owner and owned", await phone.save([note("owner"), owned]), is: "+owner +owned")
      story.step("owner goes", await phone.save([], delete: [noteID("owner")]), is: "-owner")
      story.step(
        "owned went too", await phone.tell(.fetchRecords(FetchRecords(ids: [noteID("owned")]))),
        is: "=owned!unknownItem")
    },
    Scenario("a repeated request changes nothing and is answered as before") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      let request = CloudRequest.modifyRecords(
        ModifyRecords(save: [RecordSave(note("a")), RecordSave(note("_bad"))], isAtomic: false))
      let first = await phone.ask(request, id: "same")
      let log = await phone.changes(of: notes)
      let second = await phone.ask(request, id: "same")
      story.step("same answer", "\(first == second)", is: "true")
      story.step("answer", short(second), is: "+a +_bad!invalidArguments")
      story.step("no change", await phone.changes(of: notes, since: log.token).text, is: "")
      let tablet = Visitor(service, "tablet", "alice")
      story.step(
        "another device's name is another request", short(await tablet.ask(request, id: "same")),
        is: "+a!serverRecordChanged +_bad!invalidArguments")
    },
    Scenario("limitExceeded_modifyRecords and records_limitExceeded") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      let six = (1...6).map { note("n\($0)") }
      story.step("six", await phone.save(six), is: "!limitExceeded")
      story.step(
        "read six", await phone.tell(.fetchRecords(FetchRecords(ids: six.map(\.id)))),
        is: "!limitExceeded")
      story.step("five", await phone.save(Array(six.prefix(5))), is: "+n1 +n2 +n3 +n4 +n5")
      let big = String(repeating: "x", count: 1_900)
      story.step(
        "bytes", await phone.save([note("x", big), note("y", big), note("z", big)]),
        is: "!limitExceeded")
      story.step(
        "record", await phone.save([note("x", big + big)], atomic: false), is: "+x!limitExceeded")
    },
    Scenario("quota: what does not fit is refused, and fits once there is room") { service, story in
      let phone = Visitor(service, "phone", "alice")
      story.step("make zone", await phone.make(notes), is: "+Notes")
      try service.administer(.quota(100), of: "alice")
      let text = String(repeating: "x", count: 60)
      story.step("fits", await phone.save([note("a", text)]), is: "+a")
      story.step("full", await phone.save([note("b", text)]), is: "+b!quotaExceeded")
      story.step("delete", await phone.save([], delete: [noteID("a")]), is: "-a")
      story.step("room again", await phone.save([note("b", text)]), is: "+b")
      try service.administer(.quota(nil), of: "alice")
      story.step("no bound", await phone.save([note("a", text)]), is: "+a")
    },
  ]

  static let accounts = [
    Scenario("noAccount: a device without an account is refused") { service, story in
      let nobody = Visitor(service, "phone", nil)
      for request in [
        CloudRequest.fetchCurrentUser, .modifyZones(ModifyZones(save: [notes])),
        .fetchRecords(FetchRecords(ids: [noteID("a")])),
        .modifyRecords(ModifyRecords(save: [RecordSave(note("a"))])),
      ] { story.step("\(request)", await nobody.tell(request), is: "!notAuthenticated") }
    },
    Scenario("a request for another account than the one signed in is refused") { service, story in
      let phone = Visitor(service, "phone", "alice")
      guard case .success(.currentUser(let alice)) = await phone.ask(.fetchCurrentUser) else {
        return story.step("the answer", "another one", is: "what was asked for")
      }
      story.step(
        "right", await phone.tell(.modifyZones(ModifyZones(save: [notes])), expecting: alice),
        is: "+Notes")
      var switched = phone
      switched.account = "bob"
      story.step(
        "wrong",
        await switched.tell(.modifyZones(ModifyZones(save: [notes])), expecting: alice),
        is: "!notAuthenticated")
      story.step("bob has nothing", await switched.zoneChanges().text, is: "")
    },
    Scenario("accounts see nothing of each other, and their tokens do not fit") { service, story in
      let phone = Visitor(service, "phone", "alice")
      let other = Visitor(service, "other", "bob")
      story.step("alice's zone", await phone.make(notes), is: "+Notes")
      story.step("alice saves", await phone.save([note("a")]), is: "+a")
      story.step("bob reads", await other.changes(of: notes).text, is: "!zoneNotFound")
      story.step("bob's zone", await other.make(notes), is: "+Notes")
      let token = await phone.changes(of: notes).token
      story.step(
        "alice's token", await other.changes(of: notes, since: token).text,
        is: "!changeTokenExpired")
      story.step("bob's records", await other.changes(of: notes).text, is: "")
    },
  ]
}
