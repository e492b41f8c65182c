import CloudSync
import Foundation

/// Predicates that only filter on this device, with a part of the sentence that refuses them.
enum PredicateLocalCases {
  private typealias F = PredicateFixture

  static var all: [(PredicateCase, refusal: String)] { compounds + texts + calculations + mistakes }

  static var compounds: [(PredicateCase, refusal: String)] {
    [
      (
        PredicateCase("name == 'Ada' OR n > 30") { $0.text("name") == "Ada" || $0.int("n") > 30 },
        "OR is not supported"
      ),
      (
        PredicateCase("done == YES && (n < 0 || n > 30)") {
          $0["done"] as? Bool == true && ($0.int("n") < 0 || $0.int("n") > 30)
        }, "OR is not supported"
      ),
      (
        PredicateCase("n < 0 || n > 30 && done == YES") {
          $0.int("n") < 0 || ($0.int("n") > 30 && $0["done"] as? Bool == true)
        }, "OR is not supported"
      ),
      (
        PredicateCase("NOT (n < 0 OR n > 30)") { (0...30).contains($0.int("n")) },
        "NOT cannot negate an OR"
      ),
      (
        PredicateCase("NOT (n > 0 AND n < 30)") { !(1..<30).contains($0.int("n")) },
        "NOT cannot negate an AND"
      ),
      (
        PredicateCase("NOT (n BETWEEN {2, 9})") { !(2...9).contains($0.int("n")) },
        "NOT cannot negate BETWEEN"
      ),
      (
        PredicateCase("NOT (self CONTAINS 'quick')") { $0.text("note") != "The quick brown fox" },
        "NOT cannot negate a search for words"
      ),
      (
        PredicateCase("NOT distanceToLocation:fromLocation:(place, %@) < 5000", F.place(20)) {
          abs($0.number - 20) > 4
        }, "NOT cannot negate a search for words or a test of distance"
      ),
      (
        PredicateCase("distanceToLocation:fromLocation:(place, %@) > 5000", F.place(20)) {
          abs($0.number - 20) > 4
        }, "less than a radius"
      ),
      (
        PredicateCase("name ENDSWITH 'a'") { $0.text("name")?.hasSuffix("a") ?? false },
        "ENDSWITH is not supported"
      ),
      (
        PredicateCase("name LIKE 'A*'") { $0.text("name")?.hasPrefix("A") ?? false },
        "LIKE is not supported"
      ),
      (
        PredicateCase("name LIKE '?da'") { $0.text("name") == "Ada" }, "LIKE is not supported"
      ),
      (
        PredicateCase("name LIKE[cd] '*É*'") {
          $0.text("name")?.lowercased().contains { "eéÉ".contains($0) } ?? false
        },
        "[] are not supported"
      ),
      (
        PredicateCase("name MATCHES 'A.*|d[aeiou]ra'") {
          $0.text("name").map { $0.hasPrefix("A") || $0 == "dora" } ?? false
        }, "MATCHES is not supported"
      ),
    ]
  }

  static var texts: [(PredicateCase, refusal: String)] {
    [
      (
        PredicateCase("name ==[c] 'ADA'") { $0.text("name") == "Ada" }, "[] are not supported"
      ),
      (
        PredicateCase("name BEGINSWITH[cd] 'CE'") { $0.text("name") == "Çelik" },
        "[] are not supported"
      ),
      (
        PredicateCase("note == nil") { $0.text("note") == nil }, "Comparing with nil"
      ),
      (
        PredicateCase("note != NULL") { $0.text("note") != nil }, "Comparing with nil"
      ),
      (
        PredicateCase("note = %@", NSNull()) { $0.text("note") == nil }, "Comparing with nil"
      ),
      (
        PredicateCase("ALL tags BEGINSWITH 'b'") {
          $0.list("tags").allSatisfy { $0.hasPrefix("b") }
        },
        "ALL is not supported"
      ),
      (
        PredicateCase("ANY tags != 'red'") { $0.list("tags").contains { $0 != "red" } },
        "ANY works with"
      ),
      (
        PredicateCase("ANY tags LIKE 'bl*'") { $0.list("tags").contains { $0.hasPrefix("bl") } },
        "ANY works with"
      ),
      (
        PredicateCase("n == done") { $0.int("n") == $0.int("done") },
        "Two fields cannot be compared"
      ),
      (
        PredicateCase("owner.recordID.recordName == 'owner1'") { $0.owner == "owner1" }, "is a path"
      ),
      (
        PredicateCase("tags.@count > 1") { $0.list("tags").count > 1 }, "is a path"
      ),
      (
        PredicateCase("tags[SIZE] == 2") { $0.list("tags").count == 2 },
        "Subscripts are not supported"
      ),
      (
        PredicateCase("tags[FIRST] == 'green'") { $0.list("tags").first == "green" },
        "Subscripts are not supported"
      ),
      (
        PredicateCase("n + 1 > 2 * (score - 3) ** 2") {
          Double($0.int("n")) + 1 > 2 * ($0.double("score") - 3) * ($0.double("score") - 3)
        }, "Calculations are not supported"
      ),
    ]
  }

  static var calculations: [(PredicateCase, refusal: String)] {
    [
      (
        PredicateCase("n == 3 + 4") { $0.int("n") == 7 }, "Calculations are not supported"
      ),
      (
        PredicateCase("lowercase(name) == 'ada'") { $0.text("name") == "Ada" },
        "The function lowercase: is not supported"
      ),
      (
        PredicateCase("FUNCTION(name, 'uppercase:') == 'ADA'") { $0.text("name") == "Ada" },
        "The function uppercase: is not supported"
      ),
      (
        PredicateCase("count(tags) == 3") { $0.list("tags").count == 3 },
        "The function count: is not supported"
      ),
      (
        PredicateCase("name IN %@", Set(["Ada", "Bert"])) {
          ["Ada", "Bert"].contains($0.text("name"))
        },
        "An argument of the type Set<String>"
      ),
      (
        PredicateCase("name == %@", UUID()) { _ in false }, "An argument of the type UUID"
      ),
      (
        PredicateCase("1 == 1") { _ in true }, "One side must be a field's name"
      ),
      (
        PredicateCase("n BETWEEN 5") { _ in false }, "BETWEEN needs a list of two bounds"
      ),
      (
        PredicateCase("n IN 5") { _ in false }, "One side must be a field's name"
      ),
      (
        PredicateCase("recordID == 'r7'") { _ in false }, "recordID cannot be compared with a value"
      ),
      (
        PredicateCase("creationDate > 5") { _ in false }, "creationDate cannot be compared"
      ),
      (
        PredicateCase("tags CONTAINS {'red', 'blue'}") { _ in false },
        "A list cannot be compared in this way"
      ),
    ]
  }

  static var mistakes: [(PredicateCase, refusal: String)] {
    [
      (
        PredicateCase("self == 'x'") { _ in false }, "self can only be searched for words"
      ),
      (
        PredicateCase("self CONTAINS 5") { _ in false }, "Only a text can be searched"
      ),
      (
        PredicateCase("name BEGINSWITH 5") { _ in false }, "BEGINSWITH compares a field with a text"
      ),
      (
        PredicateCase("name == $name") { _ in false }, "The variable $name has no value"
      ),
      (
        PredicateCase("_hidden == 1") { _ in false }, "is not a field's name"
      ),
      (
        PredicateCase("%K == 1", "a b") { _ in false }, "is not a field's name"
      ),
      (
        PredicateCase("place == %@", CKAsset(fileURL: URL(fileURLWithPath: "/x"))) { _ in false },
        "Files cannot be compared"
      ),
      (
        PredicateCase("distanceToLocation:fromLocation:(place, %@) < -1", F.place(1)) { _ in false
        },
        "The radius must be a number"
      ),
      (
        PredicateCase("distanceToLocation:fromLocation:(place, owner) < 5") { _ in false },
        "between a field and a place"
      ),
    ]
  }
}
