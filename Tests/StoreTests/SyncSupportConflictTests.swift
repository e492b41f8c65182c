import SyncSupport
import Testing

@Suite("Shared parts: conflicts, merges and order")
struct SyncSupportConflictTests {
  typealias Question = ConflictStrategy.Question
  typealias Decision = ConflictStrategy.Decision

  private func question(
    _ field: String = "title", mine: Double?, theirs: Double?, texts: (String, String) = ("a", "b")
  ) -> Question {
    Question(
      field: field, mineTime: mine, theirsTime: theirs, mineText: texts.0, theirsText: texts.1)
  }

  @Test("R: Each conflict strategy chooses the winner or makes no decision")
  func strategyDecidesConflictWinner() {
    let titles = ConflictStrategy.perField(["title": .manual])
    let careful = ConflictStrategy.clearlyLaterWins(seconds: 2).orElse(.manual)
    let table: [(ConflictStrategy, Question, Decision?)] = [
      (.lastWriteWins, question(mine: 2, theirs: 1), .mine),
      (.lastWriteWins, question(mine: 1, theirs: 2), .theirs),
      (.lastWriteWins, question(mine: nil, theirs: 1), .theirs),
      (.lastWriteWins, question(mine: 1, theirs: nil), .mine),
      (.lastWriteWins, question(mine: 1, theirs: 1), .theirs),
      (.lastWriteWins, question(mine: 1, theirs: 1, texts: ("b", "a")), .mine),
      (.remoteWins, question(mine: 2, theirs: 1), .theirs),
      (.localWins, question(mine: 1, theirs: 2), .mine),
      (.manual, question(mine: 1, theirs: 2), .askPerson),
      (.clearlyLaterWins(seconds: 2), question(mine: 1, theirs: 3), nil),
      (.clearlyLaterWins(seconds: 2), question(mine: 1, theirs: 3.5), .theirs),
      (.clearlyLaterWins(seconds: 2), question(mine: nil, theirs: 3.5), nil),
      (careful, question(mine: 9, theirs: 3), .mine),
      (careful, question(mine: 4, theirs: 3), .askPerson),
      (titles, question(mine: 1, theirs: 2), .askPerson),
      (titles, question("scale", mine: 1, theirs: 2), nil),
      (titles.orElse(.localWins), question("scale", mine: 1, theirs: 2), .mine),
      (titles.orElse(.localWins), question(mine: 1, theirs: 2), .askPerson),
    ]
    for (strategy, question, decision) in table {
      #expect(strategy.decide(question) == decision, "\(strategy) about \(question)")
    }
    #expect(titles.settle(question("scale", mine: 2, theirs: 1)) == .mine, "the later edit")
    let keepers: [ConflictStrategy] = [.localWins, .localWins.orElse(.manual)]
    let lookers: [ConflictStrategy] = [.lastWriteWins, .remoteWins, .manual, titles, careful]
    #expect(keepers.allSatisfy(\.alwaysKeepsMine) && !lookers.contains(where: \.alwaysKeepsMine))
  }

  @Test("R: Last write wins breaks ties the same way on both sides")
  func tiesHaveSameWinnerOnBothSides() {
    for (first, second) in [("a", "b"), ("", "x"), ("é", "e\u{301}"), ("10", "9")] {
      let here = question(mine: 5, theirs: 5, texts: (first, second))
      let there = question(mine: 5, theirs: 5, texts: (second, first))
      let sides =
        [ConflictStrategy.lastWriteWins.decide(here)]
        + [ConflictStrategy.lastWriteWins.decide(there)]
      #expect(Set(sides) == [.mine, .theirs], "\(first) and \(second) have one winner")
    }
  }

  @Test("R: Strategies are written and read as text")
  func strategiesRoundTripAsText() {
    let texts = [
      "lastWriteWins", "remoteWins", "localWins", "manual", "clearlyLaterWins(2.0)",
      "content=manual,title=remoteWins,lastWriteWins", "clearlyLaterWins(0.5),manual",
    ]
    for text in texts { #expect(ConflictStrategy(text)?.description == text) }
    #expect(
      ConflictStrategy("title = manual, lastWriteWins")
        == .perField(["title": .manual]).orElse(.lastWriteWins))
    for text in ["", "newest", "title=", "=manual", "a=manual,a=manual", "clearlyLaterWins(x)"] {
      #expect(ConflictStrategy(text) == nil, "\(text) is no strategy")
    }
  }

  @Test("R: A three-way merge keeps each side's changes, and the strategy decides contradictions")
  func threeWayMergeKeepsBothSides() {
    typealias Merge = ThreeWayMerge<Int>
    let ancestor = Merge.Version(["a": 1, "b": 1, "c": 1, "x": 0, "y": 0, "gone": 1], time: 0)
    let mine = Merge.Version(["a": 2, "b": 1, "c": 5, "x": 7, "y": 0, "edit": 8], time: 8)
    let theirs = Merge.Version(
      ["a": 1, "b": 3, "c": 6, "x": 0, "y": 9, "gone": 1, "new": 4, "edit": 9], time: 9)
    let groups = ["place": ["x", "y"]]
    func fields(_ strategy: ConflictStrategy, _ ancestor: Merge.Version?) -> [String: Int] {
      Merge(strategy: strategy, groups: groups, followers: ["edit"])
        .merge(ancestor: ancestor, mine: mine, theirs: theirs).fields
    }
    let expected = ["a": 2, "b": 3, "c": 6, "x": 0, "y": 9, "new": 4, "edit": 9]
    #expect(fields(.lastWriteWins, ancestor) == expected, "a field removed here stays removed")
    let kept = expected.merging(["c": 5, "x": 7, "y": 0]) { $1 }
    #expect(fields(.localWins, ancestor) == kept, "a group goes as one")
    #expect(fields(.remoteWins, nil) == theirs.fields, "without an ancestor all differs")
    let outcome = Merge(strategy: .perField(["c": .manual]), groups: groups, followers: ["edit"])
      .merge(ancestor: ancestor, mine: mine, theirs: theirs)
    #expect(outcome.open == ["c"] && outcome.fields["c"] == 5)
    #expect(outcome.conflicts.map(\.name) == ["c", "place"])
    #expect(outcome.conflicts.map(\.decision) == [.askPerson, .theirs])
    let same = Merge(strategy: .manual).merge(ancestor: nil, mine: mine, theirs: mine)
    #expect(same.conflicts.isEmpty && same.fields == mine.fields)
  }

  @Test("R: A merge and its mirror image agree wherever a date decides")
  func mirroredMergesAgreeByDate() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      func version() -> ThreeWayMerge<Int>.Version {
        let pairs = ["a", "b", "c", "d"].compactMap { name in
          Bool.random(using: &random) ? (name, Int.random(in: 0...2, using: &random)) : nil
        }
        return .init(
          Dictionary(uniqueKeysWithValues: pairs), time: Double.random(in: 0...3).rounded())
      }
      let (ancestor, first, second) = (version(), version(), version())
      let merge = ThreeWayMerge<Int>(strategy: .lastWriteWins, groups: ["g": ["a", "b"]])
      let here = merge.merge(ancestor: ancestor, mine: first, theirs: second)
      let there = merge.merge(ancestor: ancestor, mine: second, theirs: first)
      #expect(here.fields == there.fields, "\(ancestor) \(first) \(second)")
    }
  }

  @Test("R: Children whose parent has not arrived are held and released in order of arrival")
  func orphansAreReleasedInArrivalOrder() {
    var holding = OrphanHolding<Int>()
    for child in [11, 12, 13] { holding.hold(child, for: 1) }
    holding.hold(21, for: 2)
    holding.hold(12, for: 2)
    #expect(holding.count == 4 && holding.holds(12) && holding.parent(of: 12) == 2)
    #expect(holding.release(1) == [11, 13] && holding.release(1).isEmpty)
    holding.drop(21)
    #expect(holding.children(of: 2) == [12] && holding.count == 1)
    holding.hold(12, for: 2)
    #expect(holding.release(2) == [12] && holding.isEmpty)
    holding.hold(5, for: 6)
    holding.clear()
    #expect(holding.isEmpty && holding.release(6).isEmpty)
  }

  @Test("R: Parents come before their children, and cycles are reported and lose nothing")
  func parentsPrecedeChildren() {
    func order(_ parents: [(Int, Int?)]) -> (ordered: [Int], cyclic: [Int]) {
      let order = TopologicalOrder(parents, id: { $0.0 }, parent: { $0.1 })
      return (order.ordered.map(\.0), order.cyclic.map(\.0))
    }
    #expect(order([(3, 2), (2, 1), (9, nil), (1, nil)]).ordered == [9, 1, 2, 3])
    #expect(order([(3, 7), (2, nil)]).ordered == [3, 2], "a parent from elsewhere binds nothing")
    let knot = order([(1, 2), (2, 1), (3, 2), (4, nil), (5, 5)])
    #expect(knot.ordered == [4, 1, 2, 3, 5] && knot.cyclic == [1, 2, 3, 5])
    let long = order((0..<20_000).reversed().map { ($0, $0 == 0 ? nil : $0 - 1) })
    #expect(long.ordered == Array(0..<20_000) && long.cyclic.isEmpty)
  }
}
