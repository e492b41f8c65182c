import CloudMachine
import CloudProtocol
import Records
import Testing

/// What the save of a child does to its parent: nothing, unless the rule is switched on.
struct ParentVersionTests {
  private func world(_ isOn: Bool) throws -> World {
    var limits = CloudLimits()
    limits.childSavesChangeParents = isOn
    return try World(limits: limits)
  }

  /// Proves CS-190, SC-180.
  @Test(arguments: [false, true])
  func createParentThenChildThenShareMeetsAStaleTagOnlyWhereTheRuleIsOn(_ isOn: Bool) throws {
    let world = try world(isOn)
    _ = try world.modify([fresh("root", ["n": .int64(1)])])
    let old = try world.edit("root")
    _ = try world.modify([fresh("child", parent: "root")])
    let share = world.share(of: "root")
    #expect(
      try world.modify([old, share])
        == (isOn ? "+root serverRecordChanged, +S batchRequestFailed" : "+root ok, +S ok"))
    #expect(try world.stored("root")?.fields["n"]?.value == .int64(1))
    guard isOn else { return }
    let again = [try world.edit("root"), world.share("T", of: "root")]
    #expect(try world.modify(again) == "+root ok, +T ok")
  }

  /// Proves CS-191.
  @Test func aParentInTheSameRequestIsNotChangedTwice() throws {
    let world = try world(true)
    _ = try world.modify([fresh("root"), fresh("a", parent: "root")])
    let first = try world.stored("root")?.changeTag
    _ = try world.modify([fresh("b", parent: "root"), fresh("c", parent: "root")])
    let second = try world.stored("root")
    #expect(second?.changeTag != first)
    #expect(try world.page().modified.map(\.id.name) == ["a", "b", "c", "root"])
    // A refused save of a child changes nothing.
    #expect(try world.modify([fresh("b", parent: "root")]) == "+b serverRecordChanged")
    #expect(try world.stored("root") == second)
    // A child that goes together with its parent brings it no new version.
    #expect(
      try world.modify(delete: [id("a"), id("b"), id("c"), id("root")])
        == "-a ok, -b ok, -c ok, -root ok")
    #expect(try world.names().isEmpty)
  }

  /// Proves CS-191.
  @Test func aParentThatComesIntoAShareAtTheSameTimeKeepsItsPlaceInIt() throws {
    let world = try world(true)
    _ = try world.modify([fresh("root"), fresh("kid", parent: "root")])
    let before = try world.stored("kid")?.changeTag
    let request = [try world.edit("root"), world.share(of: "root"), fresh("toy", parent: "kid")]
    #expect(try world.modify(request) == "+root ok, +S ok, +toy ok")
    let kid = try #require(try world.stored("kid"))
    #expect(kid.share?.name == "S" && kid.changeTag != before)
    #expect(try world.stored("toy")?.share?.name == "S")
  }

  @Test func aSubscriptionFiresForAParentThatGetsANewVersion() throws {
    for isOn in [false, true] {
      let world = try world(isOn)
      _ = try world.modify([fresh("root")])
      let watched = QuerySubscription(
        query: Query(recordType: "Note"), zone: nil, options: [.firesOnRecordUpdate])
      let subscription = Subscription(
        id: SubscriptionID("s"), kind: .query(watched), notificationInfo: .init())
      _ = try world.say(.modifySubscriptions(ModifySubscriptions(save: [subscription])))
      let save = ModifyRecords(save: [fresh("child", parent: "root")])
      let pushes = try world.ask(.modifyRecords(save)).pushes
      #expect(pushes.compactMap { $0.push.query?.record.name } == (isOn ? ["root"] : []))
    }
  }

  /// Proves CS-240.
  @Test(arguments: [SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys])
  func aParentThatIsSavedWithANewChildIsAnsweredAsItIsStored(_ policy: SavePolicy) throws {
    let world = try world(true)
    _ = try world.modify([fresh("root", ["n": .int64(1)])])
    for (number, isChildFirst) in [false, true].enumerated() {
      let root = try world.edit("root", ["n": .int64(Int64(number + 2))])
      let child = fresh("child\(number)", parent: "root")
      let request = ModifyRecords(
        save: isChildFirst ? [child, root] : [root, child], policy: policy)
      guard
        case .recordsModified(let saved, _) = try world.ask(.modifyRecords(request)).reply(),
        let answered = saved.first(where: { $0.id == id("root") })?.value,
        case .records(let found) = try world.ask(
          .fetchRecords(FetchRecords(ids: [id("root")]))
        ).reply(), let stored = found.first?.value
      else { throw Unexpected() }
      #expect(answered == stored)
      #expect(answered.changeTag == stored.changeTag && answered.changeTag != root.changeTag)
      #expect(stored.fields["n"]?.value == .int64(Int64(number + 2)))
    }
  }

  /// Proves CS-241.
  @Test func aSharedParentThatGetsANewVersionStaysInItsShare() throws {
    let world = try world(true)
    _ = try world.modify([
      fresh("root"), fresh("kid", parent: "root"), world.share(of: "root", [world.guest("bob")]),
    ])
    #expect(try world.accept(as: world.stranger) == "ok")
    for (parent, isByParticipant) in [("root", false), ("kid", false), ("root", true)] {
      let before = try world.stored(parent)?.changeTag
      let token = try world.visit(nil, as: world.stranger).token
      let name = "\(parent)-\(isByParticipant)"
      let said =
        isByParticipant
        ? try world.modify(
          [fresh(name, parent: parent, zone: world.visited)], as: world.stranger, in: .shared)
        : try world.modify([fresh(name, parent: parent)])
      #expect(said == "+\(name) ok")
      let stored = try #require(try world.stored(parent))
      #expect(stored.changeTag != before && stored.share?.name == "S", "\(name)")
      let seen = try world.read(parent, as: world.stranger).get()
      #expect(seen.changeTag == stored.changeTag && seen.share?.name == "S", "\(name)")
      let news = try world.visit(token, as: world.stranger)
      #expect(Set(news.modified.map(\.id.name)) == [name, parent] && news.deleted.isEmpty)
    }
    #expect(try world.seen(as: world.stranger) == "S kid kid-false root root-false root-true")
  }
}
