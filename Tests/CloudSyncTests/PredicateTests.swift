import CloudSync
import Foundation
import Records
import Testing

@Suite("Predicates: what they find")
struct PredicateTests {
  private static func found(_ predicate: NSPredicate) -> [String] {
    PredicateFixture.records.filter { predicate.evaluate(with: $0) }.map(\.recordID.recordName)
  }

  /// Proves CS-71.
  @Test("Each predicate allowed in queries filters records as the handwritten condition does")
  func predicatesFilterRecordsLocally() {
    #expect(PredicateQueryCases.all.count >= 60)
    for one in PredicateQueryCases.all {
      let found = Self.found(one.predicate)
      #expect(found == one.expected(), "\(one.format) is \(one.predicate)")
    }
  }

  /// Proves CS-71.
  @Test("A predicate converted to query filters finds the same records")
  func convertedPredicateFindsSameRecords() throws {
    for one in PredicateQueryCases.all {
      let query = CKQuery(recordType: "Item", predicate: one.predicate)
      guard let filters = converted(query, one.format)?.filters else { continue }
      let found = PredicateFixture.records.filter { record in
        let model = QueryFilterModel(record)
        return filters.allSatisfy(model.passes)
      }.map(\.recordID.recordName)
      #expect(found == one.expected(), "\(one.format) becomes \(filters)")
      let back = CKQuery(Query(recordType: "Item", filters: filters))
      #expect(Self.found(back.predicate) == one.expected(), "\(one.format): \(back.predicate)")
      #expect(converted(back, one.format)?.filters == filters, "\(back.predicate)")
    }
  }

  private func converted(_ query: CKQuery, _ format: String) -> Query? {
    do {
      return try query.converted()
    } catch {
      Issue.record("\(format): \(error)")
      return nil
    }
  }

  /// Proves CS-73.
  @Test("Predicates that queries refuse still filter on the device")
  func unsupportedQueryPredicatesFilterLocally() {
    for (one, _) in PredicateLocalCases.all {
      let found = Self.found(one.predicate)
      #expect(found == one.expected(), "\(one.format) is \(one.predicate)")
    }
  }

  /// Proves CS-72, CS-80.
  @Test("Each refused form is invalidArguments with a message that names the part, not values")
  func refusedPredicateNamesUnsupportedPart() {
    for (one, sentence) in PredicateLocalCases.all {
      let query = CKQuery(recordType: "Item", predicate: one.predicate)
      let text = refusal(query) ?? "was not refused"
      #expect(text.contains(sentence), "\(one.format): \(text)")
      #expect(!text.contains("Ada"), "shows a value: \(text)")
    }
    let block = CKQuery(recordType: "Item", predicate: NSPredicate { _, _ in true })
    #expect(refusal(block)?.contains("made from a block") == true)
    let users = CKQuery(recordType: "Users", predicate: NSPredicate(value: true))
    #expect(refusal(users)?.contains("cannot be queried") == true)
    let nameless = CKQuery(recordType: "", predicate: NSPredicate(value: true))
    #expect(refusal(nameless)?.contains("needs a record type") == true)
  }

  /// A calculation that is long at each of its many levels.
  private static let calculation: String = {
    var text = "x"
    for _ in 0..<60 {
      for sign in ["**", "*", "+"] { text += String(repeating: "\(sign)1", count: 128) }
      text = "(\(text))"
    }
    return text + " == 1"
  }()

  private func refusal(_ query: CKQuery) -> String? {
    do {
      _ = try query.converted()
      return nil
    } catch {
      return error.code == .invalidArguments ? error.localizedDescription : "code \(error.code)"
    }
  }

  /// Proves CS-89.
  @Test("An unreadable format is never true, and a query reports where the mistake is")
  func unreadableFormatIsNeverTrue() {
    let table: [(format: String, arguments: [Any], position: Int, reason: String)] = [
      ("", [], 0, "a value is missing"), ("name", [], 4, "a comparison such as =="),
      ("name ==", [], 7, "a value is missing"), ("name == 'x", [], 8, "has no end"),
      ("name == 'x' AND", [], 15, "a value is missing"),
      ("(name == 'x'", [], 12, "\")\" is missing"),
      ("name == 'x')", [], 11, "does not belong here"), ("name == %@", [], 8, "%@ has no argument"),
      ("name == %y", [], 8, "%y is not a placeholder"),
      ("n == %llld", [1], 5, "%lll is not a placeholder"), ("n == %d", ["x"], 5, "is not a number"),
      ("%K == 1", [5], 0, "not a name"), ("n === 5", [], 4, "a value is missing"),
      ("n ~ 5", [], 2, "means nothing here"), ("n IN {1, 2", [], 10, "\"}\" is missing"),
      ("n == 5x", [], 6, "directly follows a number"),
      ("name ==[x] 'a'", [], 8, "is not an option"),
      ("x IN SELECT", [], 11, ""), ("fly(n) == 2", [], 0, "there is no function fly"),
      ("lowercase(a, b) == 'x'", [], 0, "does not take 2 arguments"),
      ("in == 1", [], 0, "write #IN"),
      ("a == 1 == 2", [], 7, "does not belong here"), ("n == 0x", [], 5, "cannot be read"),
      ("n == 1e999", [], 5, "too large"),
      ("(n == 1) + 2 == 3", [], 9, "where a comparison ends"), ("ANY tags", [], 8, "a comparison"),
      ("$ == 1", [], 1, "a name must follow"), ("n == '\\u'", [], 8, "names no character"),
      (String(repeating: "(", count: 10_000), [], -1, "nested too deeply"),
      (String(repeating: "NOT ", count: 10_000) + "n == 1", [], -1, "nested too deeply"),
      ("n == " + String(repeating: "1+", count: 10_000) + "1", [], -1, "too long"),
      ("n == " + String(repeating: "-", count: 10_000) + "a", [], -1, "nested too deeply"),
      (Self.calculation, [], -1, "too long"),
      ("a" + String(repeating: "[0]", count: 600) + " == 1", [], -1, "too long"),
    ]
    for (format, arguments, position, reason) in table where !reason.isEmpty {
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      #expect(Self.found(predicate).isEmpty, "\(format)")
      let text = refusal(CKQuery(recordType: "Item", predicate: predicate)) ?? "was not refused"
      let place = "at character \(position):"
      #expect(
        text.contains(reason) && (position < 0 || text.contains(place)),
        "\(format.prefix(60)): \(text)")
    }
  }

  /// Proves CS-90.
  @Test("Foundation's predicates keep their meaning, alone and in compounds")
  func foundationPredicatesKeepTheirMeaning() throws {
    let red = NSPredicate(format: "tags CONTAINS 'red'")
    let small = NSPredicate(format: "n < 5")
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
      red, NSPredicate(value: true), small,
    ])
    let query = try CKQuery(recordType: "Item", predicate: both).converted()
    #expect(query.filters.map(\.key) == ["tags", "n"])
    #expect(Self.found(both) == Self.found(NSPredicate(format: "tags CONTAINS 'red' AND n < 5")))
    let not = NSCompoundPredicate(notPredicateWithSubpredicate: small)
    #expect(
      try CKQuery(recordType: "Item", predicate: not).converted().filters.first?.comparator
        == .greaterThanOrEquals)
    let or = NSCompoundPredicate(orPredicateWithSubpredicates: [red, small])
    #expect(refusal(CKQuery(recordType: "Item", predicate: or))?.contains("OR is not") == true)
    let nothing = NSCompoundPredicate(orPredicateWithSubpredicates: [])
    let everything = NSCompoundPredicate(andPredicateWithSubpredicates: [])
    for (predicate, filterCount) in [
      (NSPredicate(value: false), 1), (nothing, 1), (everything, 0),
      (NSCompoundPredicate(notPredicateWithSubpredicate: nothing), 0),
      (NSCompoundPredicate(notPredicateWithSubpredicate: everything), 1),
    ] {
      let filters = try CKQuery(recordType: "Item", predicate: predicate).converted().filters
      #expect(filters.count == filterCount, "\(predicate)")
    }
  }

  /// Proves CS-73.
  @Test("Predicates also filter dictionaries, plain values, variables and lists of texts")
  func predicatesFilterDictionariesAndValues() {
    let table: [(NSPredicate, Any?, Bool)] = [
      (NSPredicate(format: "a == 1 AND b.c BEGINSWITH 'x'"), ["a": 1, "b": ["c": "xy"]], true),
      (NSPredicate(format: "a == 1"), ["b": 1], false),
      (NSPredicate(format: "a == nil"), [:], true),
      (NSPredicate(format: "SELF BEGINSWITH[c] 'A'"), "abc", true),
      (NSPredicate(format: "SELF > 3"), 4, true), (NSPredicate(format: "SELF IN {1, 2}"), 3, false),
      (NSPredicate(format: "SELF.a == 2"), ["a": 2], true),
      (NSPredicate(format: "a == 2"), nil, false),
      (NSPredicate(format: "tags.@count == 2 AND tags[LAST] == 'y'"), ["tags": ["x", "y"]], true),
      (NSPredicate(format: "@sum == 6"), [1, 2, 3], true),
      (NSPredicate(format: "n == %@", 5 as Int?), ["n": 5], true),
      (NSPredicate(format: "n == %@", nil as Int?), ["m": 5], true),
      (NSPredicate(format: "name == 'tab\\there \\u00e9'"), ["name": "tab\there é"], true),
    ]
    for (predicate, object, expected) in table {
      #expect(predicate.evaluate(with: object) == expected, "\(predicate)")
    }
    let variable = NSPredicate(format: "n == $n")
    #expect(variable.evaluate(with: ["n": 5], substitutionVariables: ["n": 5]))
    #expect(!variable.evaluate(with: ["n": 5]))
  }
}
