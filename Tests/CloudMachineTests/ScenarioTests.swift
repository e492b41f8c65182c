import CloudMachine
import CloudProtocol
import Records
import Testing
import VerificationSupport

/// Cases of several requests by two devices; the server's part of the named scenarios.
struct ScenarioTests {
  /// Proves CE-28, CE-74, CS-125, FB-4, SC-23, SC-24.
  @Test("A conflict fails its whole atomic batch; the merged retry saves everything")
  func conflictThenMerge() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["n": .int64(1)]), fresh("old")])
    let mine = try world.edit("a", ["n": .int64(2)])
    _ = try world.modify([try world.edit("a", ["m": .int64(9)])], as: world.laptop)
    let request = ModifyRecords(save: [mine, fresh("new")], delete: [id("old")])
    let answer = try world.ask(.modifyRecords(request))
    #expect(
      answer.result.words
        == "+a serverRecordChanged, +new batchRequestFailed, -old batchRequestFailed")
    guard case .recordsModified(let saved, _) = try answer.reply() else { throw Unexpected() }
    let server = try #require(saved.first?.error?.serverRecord)
    var retry = request
    retry.save[0].changeTag = server.changeTag
    #expect(try world.say(.modifyRecords(retry)) == "+a ok, +new ok, -old ok")
    #expect(try world.stored("a")?.fields == ["m": .int64(9), "n": .int64(2)])
    #expect(try world.names() == ["a", "new"])
  }

  /// Proves SC-35, SC-37, SC-132.
  @Test(
    "A record created on both sides is merged; one deleted and created again exists")
  func recordCreatedOnBothSidesIsMerged() throws {
    let world = try World()
    _ = try world.modify([fresh("tag", ["n": .int64(1)])], as: world.laptop)
    #expect(try world.modify([fresh("tag", ["n": .int64(2)])]) == "+tag serverRecordChanged")
    let token = try world.page().token
    // A new identity is a new record; what pointed at the old one moves along.
    _ = try world.modify([fresh("item", owners: ["tag"])])
    let moved = try world.edit("item", owners: ["label"])
    #expect(
      try world.modify([fresh("label", ["n": .int64(2)]), moved], delete: [id("tag")])
        == "+label ok, +item ok, -tag ok")
    #expect(try world.page(token).words == "label, item, -tag")
    _ = try world.modify(delete: [id("label")])
    #expect(try world.page(token).words == "-tag, -label, -item")
    _ = try world.modify([fresh("tag", ["n": .int64(3)])])
    #expect(try world.page(token).words == "tag, -label, -item")
    #expect(try world.stored("tag")?.fields == ["n": .int64(3)], "nothing of its earlier life")
  }

  /// Proves SC-69, SC-70, SC-71.
  @Test(
    "A parent with a new child cannot be deleted, and a move to a deleted parent is refused")
  func parentWithNewChildIsNotDeleted() throws {
    let world = try World()
    _ = try world.modify([fresh("list"), fresh("other"), fresh("one", parent: "list")])
    _ = try world.modify([fresh("two", parent: "list")], as: world.laptop)
    #expect(
      try world.modify(delete: [id("one"), id("list")])
        == "-one batchRequestFailed, -list referenceViolation")
    #expect(try world.names() == ["list", "one", "other", "two"])
    #expect(try world.modify(delete: [id("one"), id("list"), id("two")]).contains("-list ok"))
    _ = try world.modify([fresh("three", parent: "other"), fresh("list")])
    _ = try world.modify(delete: [id("list")], as: world.laptop)
    let move = try world.edit("three", parent: "list")
    #expect(try world.modify([move]) == "+three referenceViolation")
    #expect(
      try world.stored("three")?.parent == id("other"), "moveChildToParent_RemoteDeletesParent")
    #expect(try world.modify([try world.edit("three", ["n": .int64(1)])]) == "+three ok")
    #expect(try world.stored("three")?.parent == id("other"), "an edit keeps the parent")
  }

  /// Proves SC-45.
  @Test("A graph of three levels is deleted in any order, 100 times")
  func threeLevelGraphDeletesInAnyOrder() throws {
    var generator = SeededGenerator(seed: 100)
    let world = try World()
    for _ in 0..<100 {
      var saves = [fresh("root")]
      for branch in 0..<3 {
        saves.append(fresh("b\(branch)", parent: "root", owners: ["root"]))
        for leaf in 0..<3 {
          saves.append(fresh("l\(branch)\(leaf)", parent: "b\(branch)", owners: ["b\(branch)"]))
        }
      }
      saves.shuffle(using: &generator)
      #expect(try !world.modify(saves).contains("Violation"))
      let names = try world.names()
      #expect(names.count == 13)
      // All by name in any order, or just the root.
      let asked = generator.once(in: 2) ? names.shuffled(using: &generator) : ["root"]
      #expect(
        try world.modify(delete: asked.map { id($0) })
          == asked.map { "-\($0) ok" }.joined(separator: ", "))
      #expect(try world.names().isEmpty)
    }
    #expect(try world.storage.database(world.database)?.byteCount == 0)
  }

  @Test(
    "Fetching changes and mutating returned records do not change the database"
  )
  func fetchedCopiesDoNotChangeDatabase() throws {
    let world = try World()
    let request = ModifyRecords(save: [fresh("a", ["n": .int64(1)])], isAtomic: false)
    guard case .recordsModified(var saved, _) = try world.ask(.modifyRecords(request)).reply()
    else { throw Unexpected() }
    let stored = try world.stored("a")
    guard case .success(var record) = saved[0].outcome else { throw Unexpected() }
    record.fields["n"] = nil
    saved[0].outcome = .success(record)
    var page = try world.page()
    page.modified[0].fields["n"] = Field(.int64(7))
    page.modified[0].type = "Other"
    #expect(try world.stored("a") == stored)
    #expect(try world.page().modified == [try #require(stored).answered(to: world.alice)])
  }

  /// Proves SC-118, SC-135.
  @Test(
    "A client with an invalid change tag or an old token recovers by the server's answers"
  )
  func clientRecoversFromInvalidTagOrToken() throws {
    let world = try World()
    _ = try world.modify([fresh("a")])
    let answer = try world.ask(.modifyRecords(ModifyRecords(save: [fresh("a", tag: "bad")])))
    guard case .recordsModified(let saved, _) = try answer.reply() else { throw Unexpected() }
    let tag = try #require(saved.first?.error?.serverRecord?.changeTag)
    #expect(try world.modify([fresh("a", tag: tag.rawValue)]) == "+a ok")
    let token = try world.page().token
    _ = try world.machine.expireTokens(
      of: World.zone, in: world.database, now: world.now, storage: world.storage)
    #expect(
      try world.say(.fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: token)))
        == "! changeTokenExpired")
    #expect(try world.page().words == "a")
  }
}
