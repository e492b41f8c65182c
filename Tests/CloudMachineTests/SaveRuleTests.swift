import CloudMachine
import CloudProtocol
import Records
import Testing

/// The save rules of CS-110 to CS-124, as a table and as stories.
struct SaveRuleTests {
  enum Existing: CaseIterable { case never, live, deleted }
  enum Tag: CaseIterable { case none, current, stale, foreign }

  /// Proves CS-27, CS-112, CS-114, CS-115, CS-116, CS-117, I6, SC-152.
  @Test(
    "Each save policy has its expected result for every stored record and change tag",
    arguments: SavePolicy.allCases, Existing.allCases)
  func savePolicyDecidesEachTagConflict(policy: SavePolicy, existing: Existing) throws {
    for tag in Tag.allCases {
      let world = try World()
      var tags: [String] = []
      if existing != .never {
        _ = try world.modify([fresh("a", ["n": .int64(1)])])
        tags.append(try #require(world.stored("a")?.changeTag?.rawValue))
        _ = try world.modify([world.edit("a", ["m": .int64(2)])])
        tags.append(try #require(world.stored("a")?.changeTag?.rawValue))
      }
      if existing == .deleted { _ = try world.modify(delete: [id("a")]) }
      let text: String? =
        switch tag {
        case .none: nil
        case .current: tags.last ?? "zz"
        case .stale: tags.first ?? "zz"
        case .foreign: "never-issued"
        }
      let expected =
        switch (policy, existing, tag) {
        case (.changedKeys, _, _), (.allKeys, _, _): "ok"
        case (.ifServerRecordUnchanged, .live, .current): "ok"
        case (.ifServerRecordUnchanged, .live, _): "serverRecordChanged"
        case (.ifServerRecordUnchanged, .never, .none): "ok"
        case (.ifServerRecordUnchanged, .deleted, .none): "ok"
        case (.ifServerRecordUnchanged, _, _): "unknownItem"
        }
      let before = try world.stored("a")
      let words = try world.modify([fresh("a", ["x": .int64(9)], tag: text)], policy: policy)
      #expect(words == "+a \(expected)", "\(policy) \(existing) \(tag)")
      let after = try world.stored("a")
      if expected == "ok" {
        // What the save does not name stays; a new life starts with nothing.
        let kept = existing == .live ? ["m", "n", "x"] : ["x"]
        #expect(after?.fields.keys == kept, "\(policy) \(existing) \(tag)")
        #expect(after?.changeTag.map { !tags.contains($0.rawValue) } == true)
      } else {
        #expect(after == before)
      }
    }
  }

  /// Proves CE-29, CS-113, I6, SC-36.
  @Test(
    "A save without a tag over an existing name is a conflict that carries the server record"
  )
  func conflictCarriesServerRecord() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["n": .int64(1)])])
    let answer = try world.ask(
      .modifyRecords(ModifyRecords(save: [fresh("a", ["n": .int64(2)])], fields: .none)),
      as: world.laptop)
    guard case .recordsModified(let saved, _) = try answer.reply() else { throw Unexpected() }
    #expect(saved.first?.error?.code == .serverRecordChanged)
    #expect(try saved.first?.error?.serverRecord == world.stored("a")?.answered(to: world.alice))
    #expect(try world.stored("a")?.fields["n"]?.value == .int64(1))
  }

  /// Proves CS-111, SC-12, SC-41, SC-43, SC-153.
  @Test(
    "A record is created, changed and deleted; tags of older and of deleted records are refused")
  func staleAndDeletedTagsAreRefused() throws {
    let world = try World()
    #expect(try world.modify([fresh("a", ["n": .int64(1)])]) == "+a ok")
    let first = try #require(try world.stored("a"))
    #expect(first.created == first.modified)
    #expect(first.created?.device == "phone" && first.created?.user == world.alice)
    let edit = try world.edit("a", ["n": .int64(2)])
    #expect(try world.modify([edit], as: world.laptop) == "+a ok")
    let second = try #require(try world.stored("a"))
    #expect(second.created == first.created && second.modified?.device == "laptop")
    #expect(try #require(second.modified).time > #require(first.modified).time)
    #expect(second.changeTag != first.changeTag)
    #expect(try world.modify([edit]) == "+a serverRecordChanged")
    #expect(try world.modify([fresh("a", tag: "bogus")]) == "+a serverRecordChanged")
    #expect(try world.modify(delete: [id("a")]) == "-a ok")
    #expect(try world.modify([edit]) == "+a unknownItem")
    #expect(try world.modify([fresh("a")]) == "+a ok")
    #expect(try world.page().words == "a", "it is back, once")
  }

  @Test("A save without a type creates no record, whatever its policy")
  func saveWithoutATypeCreatesNoRecord() throws {
    let world = try World()
    for policy in [SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
      let save = fresh("gone", ["a": .int64(1)], type: "", tag: "old")
      #expect(try world.modify([save], policy: policy) == "+gone unknownItem", "\(policy)")
      let untagged = fresh("gone", ["a": .int64(1)], type: "")
      #expect(try world.modify([untagged], policy: policy) == "+gone invalidArguments")
    }
    #expect(try world.names() == [] && world.storage.recordTypes() == [])
    #expect(try world.modify([fresh("new", ["a": .int64(1)])]) == "+new ok")
    let edit = fresh("new", ["a": .int64(2)], type: "", tag: "old")
    #expect(try world.modify([edit], policy: .changedKeys) == "+new ok")
  }

  /// Proves CE-30.
  @Test("deletions check no version: the last one wins, also over a change nobody here has seen")
  func deletesCheckNothing() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["n": .int64(1)])])
    _ = try world.modify([try world.edit("a", ["n": .int64(2)])], as: world.laptop)
    #expect(try world.modify(delete: [id("a")], as: world.phone) == "-a ok")
    #expect(try world.modify(delete: [id("a")], as: world.laptop) == "-a ok")
    #expect(try world.names().isEmpty)
  }

  /// Proves CS-13, CS-120, WS-34.
  @Test(
    "A save sets, clears, replaces or keeps fields; an empty save makes a new version"
  )
  func saveMergesFieldChanges() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["m": .int64(1), "n": .list([.int64(1)]), "o": .string("x")])])
    var save = try world.edit("a", ["n": .list([]), "o": .string("e\u{301}")])
    save.changes.append(RecordSave.Change(key: "m", field: nil))
    save.changes.append(RecordSave.Change(key: "absent", field: nil))
    #expect(try world.modify([save]) == "+a ok")
    let after = try #require(try world.stored("a"))
    #expect(after.fields == ["n": .list([]), "o": .string("e\u{301}")])
    #expect(try world.modify([try world.edit("a")]) == "+a ok")
    #expect(try world.stored("a")?.fields == after.fields)
    #expect(try world.stored("a")?.changeTag != after.changeTag)
    let other = try fresh("a", type: "Other", tag: world.stored("a")?.changeTag?.rawValue)
    #expect(try world.modify([other]) == "+a invalidArguments")
  }

  /// Proves CS-110, I5, SC-153.
  @Test("times rise by a millisecond at least, whatever the clock does; tags are never used twice")
  func timesRiseAndTagsAreUnique() throws {
    let world = try World()
    var tags: [String] = []
    var last = Timestamp(secondsSinceReferenceDate: -1)
    for clock in [800_000_000.0004, 800_000_000, 5, -3e20, .nan, 800_000_000.0009, 900_000_000] {
      world.now = Timestamp(secondsSinceReferenceDate: clock)
      _ = try world.modify([fresh("a", ["n": .int64(1)])], policy: .allKeys)
      let record = try #require(try world.stored("a"))
      let time = try #require(record.modified).time
      #expect(time > last, "clock \(clock)")
      let milliseconds = time.secondsSinceReferenceDate * 1000
      #expect(abs(milliseconds - milliseconds.rounded()) < 0.01)
      last = time
      tags.append(try #require(record.changeTag).rawValue)
      _ = try world.modify(delete: [id("a")])
    }
    #expect(Set(tags).count == tags.count)
    #expect(last.secondsSinceReferenceDate == 900_000_000)
  }

  /// Proves SC-18.
  @Test(
    "Mutating a record returned from modifyRecords does not change the database"
  )
  func mutatingReturnedRecordKeepsDatabase() throws {
    let world = try World()
    for (selection, keys) in [
      (FieldSelection.all, ["m", "n"]), (.none, []), (.keys(["n", "absent"]), ["n"]),
    ] {
      let request = ModifyRecords(
        save: [fresh("a", ["m": .int64(1), "n": .int64(2)])], policy: .allKeys, fields: selection)
      guard case .recordsModified(let saved, _) = try world.ask(.modifyRecords(request)).reply()
      else { throw Unexpected() }
      var record = try #require(saved.first?.value)
      #expect(record.fields.keys == keys)
      let stored = try #require(try world.stored("a"))
      #expect(record.changeTag == stored.changeTag)
      record.fields["n"] = Field(.int64(99))
      #expect(try world.stored("a") == stored)
    }
  }
}
