import CloudMachine
import CloudProtocol
import Records
import Testing

/// Atomic zones, references and their company in one request: each row is one request on the
/// same small world, and what becomes of it.
///
/// The world: `list` with children `one` and `two` (by parent); `owner` with `pet` (deleteSelf),
/// which has `flea` (deleteSelf) and the parent-child `toy`; `left` and `right` own each other.
struct BatchTests {
  struct Story: Sendable, CustomTestStringConvertible {
    var name: String
    var save: @Sendable (World) throws -> [RecordSave] = { _ in [] }
    var delete: [String] = []
    /// The answer in an atomic zone, and when not asked to be atomic.
    var atomic: String
    var loose: String
    /// What is left, where it differs from all there was.
    var leftAtomic: String?
    var leftLoose: String?
    var testDescription: String { name }
  }

  static let all = "flea left list one owner pet right toy two"

  static let stories: [Story] = [
    Story(
      name: "batchRequestFailed, editConflictAndNewRecord",
      save: { [fresh("one"), fresh("new"), try $0.edit("two")] },
      atomic: "+one serverRecordChanged, +new batchRequestFailed, +two batchRequestFailed",
      loose: "+one serverRecordChanged, +new ok, +two ok",
      leftLoose: "flea left list new one owner pet right toy two"),
    Story(
      name: "editConflictAndDeleteRecord",
      save: { _ in [fresh("one")] }, delete: ["two"],
      atomic: "+one serverRecordChanged, -two batchRequestFailed",
      loose: "+one serverRecordChanged, -two ok",
      leftLoose: "flea left list one owner pet right toy"),
    Story(
      name: "two culprits keep their own errors",
      save: { _ in [fresh("one"), fresh("gone", tag: "1"), fresh("_x")] }, delete: ["two"],
      atomic:
        "+one serverRecordChanged, +gone unknownItem, +_x invalidArguments, "
        + "-two batchRequestFailed",
      loose: "+one serverRecordChanged, +gone unknownItem, +_x invalidArguments, -two ok",
      leftLoose: "flea left list one owner pet right toy"),
    Story(
      name: "saveTransaction_ChildNoParent",
      save: { _ in [fresh("child", parent: "nobody"), fresh("other")] },
      atomic: "+child referenceViolation, +other batchRequestFailed",
      loose: "+child referenceViolation, +other ok",
      leftLoose: "flea left list one other owner pet right toy two"),
    Story(
      name: "a child before its parent, both new, in one request",
      save: { _ in [fresh("child", parent: "mother"), fresh("mother")] },
      atomic: "+child ok, +mother ok", loose: "+child ok, +mother ok",
      leftAtomic: "child flea left list mother one owner pet right toy two",
      leftLoose: "child flea left list mother one owner pet right toy two"),
    Story(
      name: "a new child of a parent that fails, and its grandchild",
      save: { _ in
        [
          fresh("grandchild", parent: "child"), fresh("child", parent: "mother"),
          fresh("mother", tag: "9"),
        ]
      },
      atomic: "+grandchild batchRequestFailed, +child batchRequestFailed, +mother unknownItem",
      loose: "+grandchild referenceViolation, +child referenceViolation, +mother unknownItem"),
    Story(
      name: "a parent goes whose only child is owned by a record that fails",
      save: { _ in [fresh("child", parent: "flea", owners: ["mother"]), fresh("mother", tag: "9")]
      },
      delete: ["flea"],
      atomic: "+child batchRequestFailed, +mother unknownItem, -flea referenceViolation",
      loose: "+child referenceViolation, +mother unknownItem, -flea ok",
      leftLoose: "left list one owner pet right toy two"),
    Story(
      name: "a child of a stored parent whose own save fails",
      save: { _ in [fresh("child", parent: "list"), fresh("list")] },
      atomic: "+child batchRequestFailed, +list serverRecordChanged",
      loose: "+child ok, +list serverRecordChanged",
      leftLoose: "child flea left list one owner pet right toy two"),
    Story(
      name: "deleteTransaction_DeleteParentButNotChild", delete: ["list", "one"],
      atomic: "-list referenceViolation, -one batchRequestFailed",
      loose: "-list referenceViolation, -one ok",
      leftLoose: "flea left list owner pet right toy two"),
    Story(
      name: "deleteTransaction_ParentBeforeChild", delete: ["list", "two", "one"],
      atomic: "-list ok, -two ok, -one ok", loose: "-list ok, -two ok, -one ok",
      leftAtomic: "flea left owner pet right toy", leftLoose: "flea left owner pet right toy"),
    Story(
      name: "a parent goes while its children move away",
      save: {
        [try $0.edit("one", parent: "owner"), try $0.edit("two", parent: "owner")]
      }, delete: ["list"],
      atomic: "+one ok, +two ok, -list ok", loose: "+one ok, +two ok, -list ok",
      leftAtomic: "flea left one owner pet right toy two",
      leftLoose: "flea left one owner pet right toy two"),
    Story(
      name: "moveReminderToList_RemoteDeletesList: a child comes as its parent goes",
      save: { _ in [fresh("new", parent: "flea")] }, delete: ["flea"],
      atomic: "+new batchRequestFailed, -flea referenceViolation",
      loose: "+new ok, -flea referenceViolation",
      leftLoose: "flea left list new one owner pet right toy two"),
    Story(
      name: "cascadingDeletes: owned records go too, but no child is left without its parent",
      delete: ["owner"],
      atomic: "-owner referenceViolation", loose: "-owner referenceViolation"),
    Story(
      name: "cascadingDeletes: transitively, when the child goes along", delete: ["owner", "toy"],
      atomic: "-owner ok, -toy ok", loose: "-owner ok, -toy ok",
      leftAtomic: "left list one right two", leftLoose: "left list one right two"),
    Story(
      name: "owners in a circle", delete: ["left"],
      atomic: "-left ok", loose: "-left ok",
      leftAtomic: "flea list one owner pet toy two", leftLoose: "flea list one owner pet toy two"),
    Story(
      name: "VALIDATE to a missing target",
      save: { _ in [fresh("new", ["at": validating("nobody")])] },
      atomic: "+new referenceViolation", loose: "+new referenceViolation"),
    Story(
      name: "VALIDATE to a target that this request saves, and the target of another goes",
      save: { _ in [fresh("new", ["at": validating("flat")]), fresh("flat")] }, delete: ["toy"],
      atomic: "+new ok, +flat ok, -toy ok", loose: "+new ok, +flat ok, -toy ok",
      leftAtomic: "flat flea left list new one owner pet right two",
      leftLoose: "flat flea left list new one owner pet right two"),
    Story(
      name: "VALIDATE: the target of a record that comes can't go",
      save: { _ in [fresh("new", ["at": validating("toy")])] }, delete: ["toy"],
      atomic: "+new batchRequestFailed, -toy referenceViolation",
      loose: "+new ok, -toy referenceViolation",
      leftLoose: "flea left list new one owner pet right toy two"),
    Story(
      name: "deleteSelf to a missing target", save: { _ in [fresh("new", owners: ["nobody"])] },
      atomic: "+new referenceViolation", loose: "+new referenceViolation"),
    Story(
      name: "deleteSelf to a target that this request deletes",
      save: { [fresh("new", owners: ["flea"]), try $0.edit("pet", ["n": .int64(1)])] },
      delete: ["flea"],
      atomic: "+new referenceViolation, +pet batchRequestFailed, -flea batchRequestFailed",
      loose: "+new referenceViolation, +pet ok, -flea ok",
      leftLoose: "left list one owner pet right toy two"),
    Story(
      name: "an owned record that is saved still pointing at what goes",
      save: { [try $0.edit("flea", ["n": .int64(1)])] }, delete: ["pet", "toy"],
      atomic: "+flea referenceViolation, -pet batchRequestFailed, -toy batchRequestFailed",
      loose: "+flea referenceViolation, -pet ok, -toy ok",
      leftLoose: "left list one owner right two"),
    Story(
      name: "an owned record that lets go as its owner goes",
      save: { world in
        var save = try world.edit("flea")
        save.changes = [RecordSave.Change(key: "owner0", field: nil)]
        return [save]
      }, delete: ["pet", "toy"],
      atomic: "+flea ok, -pet ok, -toy ok", loose: "+flea ok, -pet ok, -toy ok",
      leftAtomic: "flea left list one owner right two",
      leftLoose: "flea left list one owner right two"),
    Story(
      name: "deleteUnknownRecord", delete: ["nobody"], atomic: "-nobody ok", loose: "-nobody ok"),
  ]

  static func world() throws -> World {
    let world = try World()
    _ = try world.modify([
      fresh("list"), fresh("one", parent: "list"), fresh("two", parent: "list"), fresh("owner"),
      fresh("pet", owners: ["owner"]), fresh("flea", owners: ["pet"]), fresh("toy", parent: "pet"),
      fresh("left", owners: ["right"]), fresh("right", owners: ["left"]),
    ])
    return world
  }

  /// Proves CE-66, CE-67, CS-119, CS-125, CS-128, CS-129, CS-130, I12, SC-3, SC-5, SC-6, SC-8,
  /// SC-15, SC-23, SC-24, SC-67, WS-26, WS-44.
  @Test("A request has its expected result, both atomic and non-atomic", arguments: stories)
  func requestGivesAtomicAndNonatomicResults(_ story: Story) throws {
    for isAtomic in [true, false] {
      let world = try BatchTests.world()
      #expect(try world.names().joined(separator: " ") == BatchTests.all)
      let before = try world.page()
      let answer = try world.modify(
        story.save(world), delete: story.delete.map { id($0) }, isAtomic: isAtomic)
      #expect(answer == (isAtomic ? story.atomic : story.loose), "atomic: \(isAtomic)")
      let left = (isAtomic ? story.leftAtomic : story.leftLoose) ?? BatchTests.all
      #expect(try world.names().joined(separator: " ") == left, "atomic: \(isAtomic)")
      // I12: in the feed too, all or nothing.
      let feed = try world.page(before.token)
      let isNothing = isAtomic && !answer.split(separator: ", ").allSatisfy { $0.hasSuffix(" ok") }
      if isNothing { #expect(feed.modified.isEmpty && feed.deleted.isEmpty) }
    }
  }

  /// Proves CE-66, CE-98, CS-119, CS-126, SC-4, SC-7.
  @Test("Each zone of a request is a separate batch, and a missing zone fails only its items")
  func eachZoneOfRequestIsSeparateBatch() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    let nowhere = ZoneID(name: "N")
    _ = try world.modify([fresh("a"), fresh("a", zone: second)])
    let words = try world.modify(
      [fresh("a"), fresh("b"), fresh("c", zone: second), fresh("d", zone: nowhere)],
      delete: [id("a", second), id("x"), id("x", nowhere)])
    #expect(
      words
        == "+a serverRecordChanged, +b batchRequestFailed, +c ok, +d zoneNotFound, -a ok, "
        + "-x batchRequestFailed, -x zoneNotFound")
    #expect(try world.names() == ["a"])
    #expect(try world.names(zone: second) == ["c"])
  }

  /// Proves CS-126.
  @Test("The default zone is never atomic, and it also enforces references")
  func defaultZoneIsNeverAtomic() throws {
    let world = try World()
    let zone = ZoneID.default
    #expect(
      try world.modify([
        fresh("a", zone: zone), fresh("b", parent: "nobody", zone: zone),
        fresh("c", parent: "a", zone: zone),
      ]) == "+a ok, +b referenceViolation, +c ok")
    #expect(
      try world.modify([fresh("a", zone: zone), fresh("d", zone: zone)])
        == "+a serverRecordChanged, +d ok")
    #expect(try world.modify(delete: [id("a", zone)]) == "-a referenceViolation")
    #expect(try world.names(zone: zone) == ["a", "c", "d"])
  }

  /// Proves CS-128.
  @Test("a deleted record is in the feed as a deletion, those drawn along too")
  func cascadeInFeed() throws {
    let world = try BatchTests.world()
    let before = try world.page()
    _ = try world.modify(delete: [id("owner"), id("toy")])
    let page = try world.page(before.token)
    #expect(page.words == "-owner, -toy, -pet, -flea")
    #expect(page.deleted.allSatisfy { $0.type == "Note" })
  }

  /// Proves CS-132.
  @Test("A target has at most 750 owning references")
  func owningReferencesPerTargetAreLimited() throws {
    var limits = CloudLimits()
    limits.owningReferences = 3
    #expect(CloudLimits().owningReferences == 750)
    let world = try World(limits: limits)
    _ = try world.modify([fresh("t"), fresh("a", owners: ["t"]), fresh("b", owners: ["t", "t"])])
    #expect(
      try world.modify(
        [fresh("c", owners: ["t"]), fresh("d", owners: ["t"]), try world.edit("a", owners: ["t"])],
        isAtomic: false) == "+c ok, +d limitExceeded, +a ok")
    #expect(try world.modify(delete: [id("c")]) == "-c ok")
    #expect(try world.modify([fresh("d", owners: ["t"])]) == "+d ok")
    // References that the request deletes or removes are not counted.
    #expect(try world.modify([fresh("e", owners: ["t"])]) == "+e limitExceeded")
    #expect(try world.modify([fresh("e", owners: ["t"])], delete: [id("d")]) == "+e ok, -d ok")
    var free = try world.edit("a")
    free.clearsOtherFields = true
    #expect(try world.modify([fresh("f", owners: ["t"]), free]) == "+f ok, +a ok")
    #expect(try world.modify([fresh("g", owners: ["t"])]) == "+g limitExceeded")
    let moved = try world.edit("e", owners: ["b"])
    #expect(try world.modify([fresh("g", owners: ["t"]), moved]) == "+g ok, +e ok")
  }

  @Test("A save that is refused does not count toward the references of its other targets")
  func refusedSaveCountsForNoTarget() throws {
    var limits = CloudLimits()
    limits.owningReferences = 1
    for owners in [["full", "free"], ["free", "full"]] {
      let world = try World(limits: limits)
      _ = try world.modify([fresh("full"), fresh("free"), fresh("a", owners: ["full"])])
      #expect(
        try world.modify(
          [fresh("b", owners: owners), fresh("c", owners: ["free"])], isAtomic: false)
          == "+b limitExceeded, +c ok", "\(owners)")
    }
  }

  @Test("The holders of a record that fails fail with it, along a chain of any length and order")
  func chainOfHoldersFails() throws {
    for isReversed in [false, true] {
      let world = try World()
      var chain = (0..<400).map { fresh("r\($0)", parent: $0 == 0 ? nil : "r\($0 - 1)") }
      chain[0].type = "_T"
      if isReversed { chain.reverse() }
      let words = try world.modify(chain, isAtomic: false).split(separator: ", ")
      #expect(words.count { $0.hasSuffix(" referenceViolation") } == 399)
      #expect(words.contains("+r0 invalidArguments"))
      #expect(try world.names().isEmpty)
    }
  }

  /// Proves CE-67, CS-130, CS-131.
  @Test("References stay within their zone, and a reference without an action may dangle")
  func referencesStayWithinTheirZone() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    func holding(_ target: RecordID, _ action: Reference.Action) -> RecordSave {
      fresh("h", ["r": .list([.reference(Reference(target: target, action: action))])])
    }
    #expect(try world.modify([holding(id("x", second), .none)]) == "+h invalidArguments")
    #expect(try world.modify([holding(id("x"), .deleteSelf)]) == "+h referenceViolation")
    #expect(try world.modify([holding(id("x"), .none)]) == "+h ok")
    var save = fresh("p")
    save.parent = .set(id("x", second))
    #expect(try world.modify([save]) == "+p invalidArguments")
  }
}
