import Foundation
import Testing

@testable import AnnotationStore

@Suite("Annotations: strategies and merges")
struct AnnotationMergeTests {
  typealias Question = ConflictStrategy.Question
  typealias Decision = ConflictStrategy.Decision

  private func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

  private func question(
    _ field: String = "title", mine: Double?, theirs: Double?, texts: (String, String) = ("a", "b")
  ) -> Question {
    Question(
      field: field, mineTime: mine.map(date), theirsTime: theirs.map(date), mineText: texts.0,
      theirsText: texts.1)
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

  private func version(_ numbers: [String: Int], _ time: Double) -> Fields {
    var fields = numbers.mapValues { FieldValue.whole(Int64($0)) }
    fields.updatedAt = date(time)
    return fields
  }

  @Test("R: A three-way merge keeps each side's changes, and the strategy decides contradictions")
  func threeWayMergeKeepsBothSides() {
    let ancestor = version(["a": 1, "b": 1, "c": 1, "x": 0, "y": 0, "gone": 1], 0)
    let mine = version(["a": 2, "b": 1, "c": 5, "x": 7, "y": 0], 8)
    let theirs = version(["a": 1, "b": 3, "c": 6, "x": 0, "y": 9, "gone": 1, "new": 4], 9)
    func merge(_ strategy: ConflictStrategy, _ ancestor: Fields?) -> ThreeWayMerge {
      ThreeWayMerge(
        ancestor: ancestor, mine: mine, theirs: theirs, strategy, groups: ["place": ["x", "y"]])
    }
    let expected = version(["a": 2, "b": 3, "c": 6, "x": 0, "y": 9, "new": 4], 9)
    let merged = merge(.lastWriteWins, ancestor).fields
    #expect(merged == expected, "a field removed here stays removed")
    let kept = version(["a": 2, "b": 3, "c": 5, "x": 7, "y": 0, "new": 4], 9)
    #expect(merge(.localWins, ancestor).fields == kept, "a group goes as one")
    #expect(merge(.remoteWins, nil).fields == theirs, "without an ancestor all differs")
    let asked = merge(.perField(["c": .manual]), ancestor)
    #expect(asked.open == ["c"] && asked.fields["c"] == .whole(5))
    #expect(asked.conflicts.map(\.name) == ["c", "place"])
    #expect(asked.conflicts.map(\.decision) == [.askPerson, .theirs])
    let same = ThreeWayMerge(ancestor: nil, mine: mine, theirs: mine, .manual)
    #expect(same.conflicts.isEmpty && same.fields == mine)
  }

  @Test("R: A merge and its mirror image agree wherever a date decides")
  func mirroredMergesAgreeByDate() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      func version() -> Fields {
        let pairs = ["a", "b", "c", "d"].compactMap { name in
          Bool.random(using: &random) ? (name, Int.random(in: 0...2, using: &random)) : nil
        }
        return self.version(
          Dictionary(uniqueKeysWithValues: pairs), Double.random(in: 0...3).rounded())
      }
      let (ancestor, first, second) = (version(), version(), version())
      func merged(_ mine: Fields, _ theirs: Fields) -> Fields {
        ThreeWayMerge(
          ancestor: ancestor, mine: mine, theirs: theirs, .lastWriteWins, groups: ["g": ["a", "b"]]
        ).fields
      }
      #expect(merged(first, second) == merged(second, first), "\(ancestor) \(first) \(second)")
    }
  }

  @Test("R: Children whose parent has not arrived are held and released with their parent")
  func orphansAreReleasedWithTheirParent() throws {
    func item(_ number: Int, _ kind: ItemKind, under parent: Int? = nil) -> StoredItem {
      var fields: Fields = ["id": .text(testID(number).uuidString)]
      if let parent, let field = kind.parent?.field { fields[link: field] = testID(parent) }
      return StoredItem(id: testID(number), kind: kind, mine: fields)
    }
    var tables = Tables()
    for child in [13, 11, 12] { tables.put(item(child, .annotation, under: 1), waits: nil) }
    tables.put(item(21, .comment, under: 11), waits: nil)
    tables.keep()
    #expect(!tables.items.values.contains { tables.isShown($0) })
    tables.put(item(12, .annotation, under: 2), waits: nil)
    tables.put(item(1, .layer), waits: nil)
    #expect(tables.changedItems == [12, 1, 11, 13].map { testID($0) })
    #expect([11, 13, 21].allSatisfy { tables.items[testID($0)].map(tables.isShown) == true })
    #expect(tables.items[testID(12)].map(tables.isShown) == false)
    tables.rollBack()
    #expect(tables.items[testID(1)] == nil && tables.childIDs(of: testID(1)).count == 3)
    #expect(!tables.items.values.contains { tables.isShown($0) })
  }
}
