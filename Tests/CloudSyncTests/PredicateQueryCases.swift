import CloudSync
import Foundation

/// Predicates that queries take.
enum PredicateQueryCases {
  static var all: [PredicateCase] { comparisons + lists + others + searches }

  private typealias F = PredicateFixture

  static var comparisons: [PredicateCase] {
    [
      PredicateCase("TRUEPREDICATE") { _ in true },
      PredicateCase("truepredicate") { _ in true },
      PredicateCase("FALSEPREDICATE") { _ in false },
      PredicateCase("NOT FALSEPREDICATE") { _ in true },
      PredicateCase("name == %@", "Ada") { $0.text("name") == "Ada" },
      PredicateCase("name = 'Ada'") { $0.text("name") == "Ada" },
      PredicateCase("name == \"Çelik\"") { $0.text("name") == "Çelik" },
      PredicateCase("name == 'O\\'Neil'") { $0.text("name") == "O'Neil" },
      PredicateCase("name == \"O'Neil\"") { $0.text("name") == "O'Neil" },
      PredicateCase("name == 'a \"b\" \\\\c'") { $0.text("name") == "a \"b\" \\c" },
      PredicateCase("name == %@", "a \"b\" \\c") { $0.text("name") == "a \"b\" \\c" },
      PredicateCase("%K == %@", "name", "Bert") { $0.text("name") == "Bert" },
      PredicateCase("%K = %@ && %K > %d", "name", "Bert", "n", 3) {
        $0.text("name") == "Bert" && $0.int("n") > 3
      },
      PredicateCase("name != %@", "Ada") { $0.text("name") != "Ada" },
      PredicateCase("name <> %@", "Ada") { $0.text("name") != "Ada" },
      PredicateCase("NOT (name == %@)", "Ada") { $0.text("name") != "Ada" },
      PredicateCase("!(name == %@)", "Ada") { $0.text("name") != "Ada" },
      PredicateCase("NOT NOT name == 'Ada'") { $0.text("name") == "Ada" },
      PredicateCase("note != 'FOX and dog'") { $0.text("note") != "FOX and dog" },
      PredicateCase("n > 5") { $0.int("n") > 5 },
      PredicateCase("5 < n") { $0.int("n") > 5 },
      PredicateCase("5 > n") { $0.int("n") < 5 },
      PredicateCase("7 == n") { $0.int("n") == 7 },
      PredicateCase("n >= %d AND n <= %d", -3, 8) { (-3...8).contains($0.int("n")) },
      PredicateCase("n => %i and n =< %li", -3, 8) { (-3...8).contains($0.int("n")) },
      PredicateCase("-3 <= n && 8 >= n") { (-3...8).contains($0.int("n")) },
      PredicateCase("n == %ld", 7) { $0.int("n") == 7 },
      PredicateCase("n == %lu", UInt(7)) { $0.int("n") == 7 },
      PredicateCase("n == %lld", Int64(7)) { $0.int("n") == 7 },
      PredicateCase("n == %llu", UInt64(7)) { $0.int("n") == 7 },
      PredicateCase("n == %@", NSNumber(value: 7)) { $0.int("n") == 7 },
      PredicateCase("n == 0x1F") { $0.int("n") == 31 },
      PredicateCase("n != -4") { $0.int("n") != -4 },
      PredicateCase("n < 1e1") { $0.int("n") < 10 },
      PredicateCase("score > 2.5e+0") { $0.double("score") > 2.5 },
      PredicateCase("score < %f", 3.25) { $0.double("score") < 3.25 },
      PredicateCase("score <= %g", 3.5) { $0.double("score") <= 3.5 },
      PredicateCase("score >= .5") { $0.double("score") >= 0.5 },
      PredicateCase("done == YES") { $0["done"] as? Bool == true },
      PredicateCase("done = true") { $0["done"] as? Bool == true },
      PredicateCase("done == NO") { $0["done"] as? Bool == false },
      PredicateCase("done == FALSE") { $0["done"] as? Bool == false },
      PredicateCase("done == %@", true) { $0["done"] as? Bool == true },
      PredicateCase("done == 1") { $0["done"] as? Bool == true },
      PredicateCase("n BETWEEN {2, 9}") { (2...9).contains($0.int("n")) },
      PredicateCase("n between %@", [2, 9]) { (2...9).contains($0.int("n")) },
      PredicateCase("n BETWEEN {%d, %d} AND done = YES", 2, 9) {
        (2...9).contains($0.int("n")) && $0["done"] as? Bool == true
      },
      PredicateCase("NOT (n < 4)") { $0.int("n") >= 4 },
      PredicateCase("NOT n >= 4") { $0.int("n") < 4 },
      PredicateCase("NOT n > 4") { $0.int("n") <= 4 },
      PredicateCase("NOT n <= 4") { $0.int("n") > 4 },
      PredicateCase("NOT n != 4") { $0.int("n") == 4 },
      PredicateCase("name BEGINSWITH 'Ad'") { $0.text("name")?.hasPrefix("Ad") ?? false },
      PredicateCase("name beginswith %@", "É") { $0.text("name")?.hasPrefix("É") ?? false },
      PredicateCase("NOT (name BEGINSWITH %@)", "A") {
        !($0.text("name")?.hasPrefix("A") ?? false)
      },
      PredicateCase("#in == 1") { $0.int("in") == 1 },
      PredicateCase("%K == 1", "in") { $0.int("in") == 1 },
      PredicateCase("first_Name2 == 'n3'") { $0.text("first_Name2") == "n3" },
      PredicateCase("raw == %@", Data([5])) { $0["raw"] as? Data == Data([5]) },
    ]
  }

  static var lists: [PredicateCase] {
    [
      PredicateCase("name IN {'Ada', 'dora'}") { ["Ada", "dora"].contains($0.text("name")) },
      PredicateCase("name in %@", ["Ada", "dora"]) { ["Ada", "dora"].contains($0.text("name")) },
      PredicateCase("name IN %@", ["Ada"] as NSArray) { $0.text("name") == "Ada" },
      PredicateCase("n IN %@", [1, 2, 40]) { [1, 2].contains($0.int("n")) },
      PredicateCase("NOT (n IN %@)", [1, 2]) { ![1, 2].contains($0.int("n")) },
      PredicateCase("n IN %@", [Int]()) { _ in false },
      PredicateCase("n IN {}") { _ in false },
      PredicateCase("NOT n IN {}") { _ in true },
      PredicateCase("{1, 2} CONTAINS n") { [1, 2].contains($0.int("n")) },
      PredicateCase("tags CONTAINS 'red'") { $0.list("tags").contains("red") },
      PredicateCase("'red' IN tags") { $0.list("tags").contains("red") },
      PredicateCase("%@ IN tags", "blue") { $0.list("tags").contains("blue") },
      PredicateCase("NOT (tags CONTAINS %@)", "red") { !$0.list("tags").contains("red") },
      PredicateCase("ANY tags = 'red'") { $0.list("tags").contains("red") },
      PredicateCase("SOME tags == %@", "red") { $0.list("tags").contains("red") },
      PredicateCase("NONE tags == 'red'") { !$0.list("tags").contains("red") },
      PredicateCase("ANY tags IN %@", ["green", "blue"]) {
        !Set($0.list("tags")).isDisjoint(with: ["green", "blue"])
      },
      PredicateCase("ANY {'green', 'blue'} IN tags") {
        !Set($0.list("tags")).isDisjoint(with: ["green", "blue"])
      },
      PredicateCase("NOT ANY tags IN {'green', 'blue'}") {
        Set($0.list("tags")).isDisjoint(with: ["green", "blue"])
      },
      PredicateCase("ANY {'Ada', 'dora'} = name") { ["Ada", "dora"].contains($0.text("name")) },
      PredicateCase("any tags BEGINSWITH 'blu'") {
        $0.list("tags").contains { $0.hasPrefix("blu") }
      },
      PredicateCase("NONE tags BEGINSWITH 'blu'") {
        !$0.list("tags").contains { $0.hasPrefix("blu") }
      },
      PredicateCase("numbers CONTAINS %d", 12) { ($0["numbers"] as? [Int] ?? []).contains(12) },
      PredicateCase("tags CONTAINS 'red' AND NOT tags CONTAINS 'blue'") {
        $0.list("tags").contains("red") && !$0.list("tags").contains("blue")
      },
    ]
  }

  static var others: [PredicateCase] {
    [
      PredicateCase("when > %@", F.date(20)) { $0.date("when") > F.date(20) },
      PredicateCase("when >= %@ AND when < %@", F.date(5) as NSDate, F.date(9) as NSDate) {
        (F.date(5)..<F.date(9)).contains($0.date("when"))
      },
      PredicateCase("when BETWEEN %@", [F.date(5), F.date(9)]) {
        (F.date(5)...F.date(9)).contains($0.date("when"))
      },
      PredicateCase("when < now()") { $0.date("when") < Date() },
      PredicateCase("when == CAST(700003000, 'NSDate')") { $0.date("when") == F.date(3) },
      PredicateCase("creationDate <= %@", F.date(11)) {
        $0.creationDate.map { $0 <= F.date(11) } ?? false
      },
      PredicateCase("___createTime <= %@", F.date(11)) { $0.number <= 11 },
      PredicateCase("modificationDate > %@", F.date(11)) { $0.number > 11 },
      PredicateCase("%K > %@", CKRecord.SystemFieldKey.modificationDate, F.date(11)) {
        $0.number > 11
      },
      PredicateCase("owner == %@", CKRecord.Reference(recordID: F.owner(1), action: .none)) {
        $0.owner == "owner1"
      },
      PredicateCase("owner = %@", F.owner(2)) { $0.owner == "owner2" },
      PredicateCase("owner = %@", CKRecord(recordType: "Owner", recordID: F.owner(3))) {
        $0.owner == "owner3"
      },
      PredicateCase("owner != %@", F.owner(2)) { $0.owner != "owner2" },
      PredicateCase(
        "owner IN %@",
        [F.owner(0), F.owner(1)].map { CKRecord.Reference(recordID: $0, action: .none) }
      ) { ["owner0", "owner1"].contains($0.owner) },
      PredicateCase("recordID == %@", CKRecord.ID(recordName: "r7")) {
        $0.recordID.recordName == "r7"
      },
      PredicateCase(
        "recordID IN %@", [CKRecord.ID(recordName: "r7"), CKRecord.ID(recordName: "r9")]
      ) {
        ["r7", "r9"].contains($0.recordID.recordName)
      },
      PredicateCase("creatorUserRecordID == %@", CKRecord.ID(recordName: "_user1")) {
        $0.creatorUserRecordID?.recordName == "_user1"
      },
      PredicateCase("lastModifiedUserRecordID != %@", CKRecord.ID(recordName: "_user1")) {
        $0.lastModifiedUserRecordID?.recordName != "_user1"
      },
    ]
  }

  static var searches: [PredicateCase] {
    [
      PredicateCase("distanceToLocation:fromLocation:(place, %@) < %f", F.place(20), 5000.0) {
        abs($0.number - 20) <= 4
      },
      PredicateCase("%f >= distanceToLocation:fromLocation:(%@, place)", 2500.0, F.place(20)) {
        abs($0.number - 20) <= 2
      },
      PredicateCase("%f > distanceToLocation:fromLocation:(place, %@)", 2500.0, F.place(20)) {
        abs($0.number - 20) <= 2
      },
      PredicateCase("distanceToLocation:fromLocation:(place, %@) <= 0", F.place(20)) {
        $0.number == 20
      },
      PredicateCase("self CONTAINS 'fox'") {
        ["The quick brown fox", "Crème brûlée for the fox", "FOX and dog"].contains($0.text("note"))
      },
      PredicateCase("SELF contains %@", "the Fox BROWN") {
        $0.text("note") == "The quick brown fox"
      },
      PredicateCase("self CONTAINS 'creme' AND self CONTAINS 'FOX'") {
        $0.text("note") == "Crème brûlée for the fox"
      },
      PredicateCase("ALL tokenize(%@, 'Cdl') IN allTokens", "dog fox") {
        $0.text("note") == "FOX and dog"
      },
      PredicateCase("ANY tokenize:using:(%@, 'Cdl') IN allTokens", "lazy quick") {
        ["The quick brown fox", "a lazy Dog sleeps"].contains($0.text("note"))
      },
      PredicateCase("allTokens TOKENMATCHES[cdl] %@", "dog fox") {
        $0.text("note") == "FOX and dog"
      },
    ]
  }
}
