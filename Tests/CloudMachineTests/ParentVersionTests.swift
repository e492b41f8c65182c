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
}
