import CloudSync
import Foundation
import Records
import Testing

// On Apple's platforms Foundation parses and evaluates predicates itself: it ends the process for a
// format that it cannot read, and has other values for what queries do not take.
#if !canImport(Darwin)
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
        ("name == 'x')", [], 11, "does not belong here"),
        ("name == %@", [], 8, "%@ has no argument"),
        ("name == %y", [], 8, "%y is not a placeholder"),
        ("n == %llld", [1], 5, "%lll is not a placeholder"),
        ("n == %d", ["x"], 5, "is not a number"),
        ("%K == 1", [5], 0, "not a name"), ("n === 5", [], 4, "a value is missing"),
        ("n ~ 5", [], 2, "means nothing here"), ("n IN {1, 2", [], 10, "\"}\" is missing"),
        ("n == 5x", [], 6, "directly follows a number"),
        ("name ==[x] 'a'", [], 8, "is not an option"),
        ("x IN SELECT", [], 11, ""), ("fly(n) == 2", [], 0, "there is no function fly"),
        ("lowercase(a, b) == 'x'", [], 0, "does not take 2 arguments"),
        ("in == 1", [], 0, "write #IN"),
        ("a == 1 == 2", [], 7, "does not belong here"), ("n == 0x", [], 5, "cannot be read"),
        ("n == 1e999", [], 5, "too large"),
        ("(n == 1) + 2 == 3", [], 9, "where a comparison ends"),
        ("ANY tags", [], 8, "a comparison"),
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
        (NSPredicate(format: "SELF > 3"), 4, true),
        (NSPredicate(format: "SELF IN {1, 2}"), 3, false),
        (NSPredicate(format: "SELF.a == 2"), ["a": 2], true),
        (NSPredicate(format: "a == 2"), nil, false),
        (
          NSPredicate(format: "tags.@count == 2 AND tags[LAST] == 'y'"), ["tags": ["x", "y"]], true
        ),
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

    /// Formats that are true for every object.
    private static let truths = [
      "abs(-3) == 3", "sqrt(16) == 4", "ln(exp(2)) BETWEEN {1.99, 2.01}",
      "log(1000) BETWEEN {2.99, 3.01}", "ceiling(1.2) == 2", "ceiling(-1.8) == -1",
      "floor(1.8) == 1", "floor(-1.2) == -2", "trunc(-1.8) == -1", "trunc(1.8) == 1",
      "modulus:by:(7, 4) == 3", "modulus:by:(7, 0) == nil", "raise:toPower:(2, 10) == 1024",
      "add:to:(2, 3) == 5", "from:subtract:(9, 2) == 7", "multiply:by:(3, 4) == 12",
      "divide:by:(9, 3) == 3", "FUNCTION(2, 'add:to:', 3) == 5",
      "7 / 2 == 3", "7 / 2.0 == 3.5", "1 / 0 > 1000000", "2 ** 10 == 1024", "2 ** -1 == 0.5",
      "3 - 1 - 1 == 1", "10 - 2 * 3 == 4", "-7 - -2 == -5", "1.5 + 1 == 2.5", "1.5 - 1 == 0.5",
      "1.5 * 2 == 3", "9223372036854775807 + 1 > 9223372036854775000",
      "-9223372036854775807 - 9 < -9223372036854775000",
      "CAST(10, 'NSDate') + 5 == CAST(15, 'Date')", "CAST(10, 'NSDate') - 5 == CAST(5, 'NSDate')",
      "CAST(10, 'NSDate') * 2 == nil",
      "sum({1, 2, 3}) == 6", "sum(1, 2) == 3", "sum({}) == 0", "min(3, 1, 2) == 1",
      "min({2, 3}) == 2", "min({}) == nil", "max({1, 3, 2}) == 3", "max(3, 1) == 3",
      "average({1, 2, 6}) == 3", "average({}) == nil", "count({5, 6}) == 2", "count(5, 6, 7) == 3",
      "uppercase('ab') == 'AB'", "lowercase('AB') == 'ab'", "canonical('\u{C0}B') == 'ab'",
      "length('a\u{F1}\u{1F600}') == 4", "tokenize('The red fox', 'Cdl') == {'red', 'fox'}",
      "distanceToLocation:fromLocation:(1, 2) == nil",
      "0b101 == 5", "0o17 == 15", "0XfF == 255", "-0x10 == -16", "1.5E+1 == 15", "25e-1 == 2.5",
      "5. == 5", "-2.5 < -2",
      "'\\x41\\u0042\\u43' == 'ABC'", "'\\x412' == 'A2'", "'\\u00412' == 'A2'",
      "'a\\nb' != 'anb'", "'a\\rb' != 'arb'", "'a\\tb' != 'atb'",
    ]

    @Test("Functions, calculations and literals have the values that Foundation gives them")
    func functionsAndCalculationsHaveValues() {
      let nothing: Any? = nil
      for format in Self.truths {
        #expect(NSPredicate(format: format).evaluate(with: nothing), "\(format)")
      }
    }

    /// A format, an object, and whether the format is true for it.
    private typealias Evaluation = (format: String, object: Any?, holds: Bool)

    private static var values: [Evaluation] {
      [
        ("SELF < 'b'", "a", true), ("SELF < 'b'", "b", false), ("SELF < 'b'", "c", false),
        ("SELF > 'b'", "c", true), ("SELF > 'b'", "a", false), ("SELF <= 'b'", "b", true),
        ("SELF >[c] 'B'", "b", false), ("SELF >=[c] 'B'", "b", true), ("SELF > 3", 3.5, true),
        ("SELF > 3", 2.5, false), ("SELF > 2.5", 3, true), ("SELF > 3", "x", false),
        ("SELF <= 3", "x", false), ("SELF >= 3", "x", false), ("SELF BETWEEN {2, 9}", 2, true),
        ("SELF BETWEEN {2, 9}", 9, true), ("SELF BETWEEN {2, 9}", 1, false),
        ("SELF BETWEEN {2, 9}", 10, false), ("SELF BETWEEN {2, 5, 9}", 5, false),
      ]
    }

    private static var members: [Evaluation] {
      let nothing: [String: Any] = [:]
      let one: [String: Any] = ["a": 1]
      let list: [String: Any] = ["t": ["x", "y"]]
      let nested: [String: Any] = ["b": ["c": 1], "in": ["x": 1], "self": ["a": 2]]
      let many: [String: Any] = ["b": [["x": 1], ["x": 2]], "n": "Ada"]
      return [
        ("a <= 5", nothing, false), ("a >= 5", nothing, false), ("a != 5", nothing, true),
        ("ANY a == 1", one, true), ("ANY a == nil", nothing, false), ("ALL a == 1", nothing, true),
        ("t == {'x', 'y'}", list, true), ("t == {'x'}", list, false),
        ("t == {'y', 'x'}", list, false), ("t[0] == 'x'", list, true), ("t[1] == 'y'", list, true),
        ("t[2] == nil", list, true), ("t[-1] == nil", list, true), ("t[0.5] == nil", list, true),
        ("t[FIRST] == 'x' AND t[SIZE] == 2", list, true), ("b['c'] == 1", nested, true),
        ("(b).c == 1", nested, true), ("in.x == 1", nested, true), ("#self.a == 2", nested, true),
        ("#self.a == 1", one, false), ("self.a == 1", one, true), ("b.x.@sum == 3", many, true),
        ("n.length == 3", many, true), ("n.other == nil", many, true),
        ("@avg == 2", [1, 2, 3], true), ("@max == 3", [1, 3, 2], true),
        ("@min == 1", [2, 1], true),
      ]
    }

    private static var searches: [Evaluation] {
      [
        ("SELF CONTAINS 'cd'", "abcd", true), ("SELF CONTAINS 'abcd'", "abcd", true),
        ("SELF CONTAINS 'abcde'", "abcd", false), ("SELF CONTAINS 'bd'", "abcd", false),
        ("SELF CONTAINS ''", "abcd", false), ("SELF CONTAINS[c] 'BC'", "abcd", true),
        ("SELF CONTAINS 'BC'", "abcd", false), ("'bc' IN SELF", "abcd", true),
        ("SELF LIKE 'a*b*c'", "aXbYbZc", true), ("SELF LIKE 'a*b*c'", "aXc", false),
        ("SELF LIKE 'a*'", "a", true), ("SELF LIKE 'a?'", "a", false),
        ("SELF LIKE 'a'", "ab", false),
        ("SELF LIKE '*'", "", true), ("SELF LIKE '?b'", "ab", true),
        ("SELF LIKE 'a\\\\*'", "a*", true), ("SELF LIKE 'a\\\\*'", "ab", false),
        ("SELF MATCHES 'a+'", "aab", false), ("SELF MATCHES 'b'", "ab", false),
        ("SELF MATCHES[c] 'A+'", "aa", true), ("SELF MATCHES 'A+'", "aa", false),
        ("SELF MATCHES[d] 'e'", "\u{E9}", true), ("SELF MATCHES 'e'", "\u{E9}", false),
        ("SELF MATCHES '('", "(", false),
        ("SELF ENDSWITH[c] 'C'", "abc", true), ("SELF ENDSWITH 'b'", "abc", false),
        ("SELF TOKENMATCHES 'the fox'", "A quick Fox", true),
        ("SELF TOKENMATCHES 'fox cat'", "A quick Fox", false),
        ("SELF TOKENMATCHES 5", "5", false), ("SELF TOKENMATCHES 'red fox'", ["Red", "fox"], true),
      ]
    }

    @Test("Comparisons follow the kinds of their values, and searches find whole parts")
    func comparisonsFollowKindsOfValues() {
      for (format, object, holds) in Self.values + Self.members + Self.searches {
        #expect(
          NSPredicate(format: format).evaluate(with: object) == holds,
          "\(format), \(String(describing: object))")
      }
      let id = UUID()
      #expect(NSPredicate(format: "id == %@", id).evaluate(with: ["id": id]))
      #expect(!NSPredicate(format: "id == %@", id).evaluate(with: ["id": UUID()]))
    }

    @Test("A record is compared by its ID, whose parts are read as a path")
    func recordIsComparedByID() {
      let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
      let record = CKRecord(
        recordType: "T", recordID: CKRecord.ID(recordName: "r", zoneID: zoneID))
      let other = CKRecord.ID(recordName: "s", zoneID: zoneID)
      for format in ["SELF == %@", "%@ == SELF"] {
        #expect(NSPredicate(format: format, record.recordID).evaluate(with: record))
        #expect(!NSPredicate(format: format, other).evaluate(with: record))
      }
      for format in [
        "recordID.zoneID.zoneName == 'Z'", "recordID.zoneID.ownerName == '_o'",
        "recordID.other == nil",
      ] { #expect(NSPredicate(format: format).evaluate(with: record), "\(format)") }
    }

    @Test("Formats are read up to the limits of depth and length, and refused beyond them")
    func formatsAreReadUpToTheirLimits() {
      func holds(_ format: String, for number: Int) -> Bool {
        NSPredicate(format: format).evaluate(with: ["n": number])
      }
      func nested(_ depth: Int) -> String {
        String(repeating: "(", count: depth) + "n == 1" + String(repeating: ")", count: depth)
      }
      func sum(_ terms: Int) -> String {
        "n == " + Array(repeating: "1", count: terms).joined(separator: " + ")
      }
      func subscripts(_ count: Int) -> String {
        "n" + String(repeating: "[0]", count: count) + " == 1"
      }
      #expect(holds(nested(63), for: 1) && !holds(nested(64), for: 1))
      #expect(holds(sum(129), for: 129) && !holds(sum(130), for: 130))
      #expect(holds(subscripts(128), for: 1) && !holds(subscripts(129), for: 1))
      let list = (1...100).map { "\($0)" }.joined(separator: ", ")
      #expect(holds("n IN {\(list)}", for: 100), "each member is as deep as the first")
    }

    /// A format that no query can express, and a part of the sentence that refuses it.
    private typealias Refusal = (format: String, arguments: [Any], sentence: String)

    private static var refusals: [Refusal] {
      let place = PredicateFixture.place(1)
      let distance = "distanceToLocation:fromLocation:(place, %@)"
      return [
        ("n IN {{1}, 2}", [], "Lists hold no lists"),
        ("tokenize('dog', 'Cdl') IN allTokens", [], "tokenize:using: is not supported"),
        ("ANY self CONTAINS 'fox'", [], "self can only be searched"),
        ("ANY self TOKENMATCHES 'fox'", [], "ANY works with"),
        ("ANY note TOKENMATCHES 'fox'", [], "ANY works with"),
        ("ANY \(distance) < 5", [place], "less than a radius"),
        ("\(distance) <[c] 5", [place], "less than a radius"),
        ("\(distance) == 5", [place], "less than a radius"),
        ("5 < \(distance)", [place], "less than a radius"),
        ("5 <= \(distance)", [place], "less than a radius"),
        ("\(distance) < %f", [place, Double.infinity], "The radius must be a number"),
        ("\(distance) < 'x'", [place], "The radius must be a number"),
        ("n BETWEEN {1, 2, 3}", [], "BETWEEN needs a list of two bounds"),
        ("n BETWEEN {1}", [], "BETWEEN needs a list of two bounds"),
        ("ANY tags IN 'red'", [], "IN needs a list"),
        ("ANY tags BEGINSWITH 5", [], "BEGINSWITH compares a field with a text"),
        ("ANY tags == {'red'}", [], "A list cannot be compared in this way"),
        ("tags < {'red'}", [], "A list cannot be compared in this way"),
        ("recordID IN {'r7'}", [], "recordID cannot be compared"),
        ("name == self", [], "self cannot be a value"),
        ("now() == 5", [], "One side must be a field's name"),
        ("d == CAST(1)", [], "CAST only converts"),
        ("d == CAST('x', 'Date')", [], "CAST only converts"),
        ("d == CAST(1, 'NSString')", [], "CAST only converts"),
        ("FUNCTION(a) == 1", [], "FUNCTION needs"), ("FUNCTION(a, 5) == 1", [], "FUNCTION needs"),
        ("lowercase: == 'x'", [], "is missing behind the function"),
        ("a[0].b == 1", [], "a dot only joins"), ("%K == 1", [""], "is not a name"),
      ]
    }

    @Test("A query refuses each form that it cannot express, and names the reason")
    func queryRefusesInexpressibleForms() {
      let names = [
        String(repeating: "a", count: 256), "9a", "a@", "a[", "a`", "a{", "a/", "a:", "\u{E9}",
        "a-b",
      ]
      let badNames = names.map { name -> Refusal in ("%K == 1", [name], "is not a field's name") }
      for (format, arguments, sentence) in Self.refusals + badNames {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        let text = refusal(CKQuery(recordType: "Item", predicate: predicate)) ?? "was not refused"
        #expect(text.contains(sentence), "\(format): \(text)")
      }
    }

    @Test("Each name of a field that CloudKit allows is taken")
    func allowedFieldNamesAreTaken() throws {
      for name in ["a", "z", "A", "Z", "azAZ09_", String(repeating: "a", count: 255)] {
        let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: "%K == 1", name))
        #expect(try query.converted().filters.map(\.key) == [name])
      }
    }

    @Test(
      "Lists are compared as a whole, and the words of one field or all members are searched for")
    func listsAndWordsBecomeFilters() throws {
      typealias Filter = Query.Filter
      let red = FieldValue.list([.string("red")])
      let table: [(format: String, filter: Filter)] = [
        ("tags == {'red'}", Filter(key: "tags", comparator: .equals, value: red)),
        ("tags != {'red'}", Filter(key: "tags", comparator: .notEquals, value: red)),
        (
          "note TOKENMATCHES 'dog fox'",
          Filter(key: "note", comparator: .containsAllTokens, value: .string("dog fox"))
        ),
      ]
      for (format, filter) in table {
        let predicate = NSPredicate(format: format)
        #expect(
          try CKQuery(recordType: "Item", predicate: predicate).converted().filters == [filter])
        let back = CKQuery(Query(recordType: "Item", filters: [filter])).predicate
        #expect(Self.found(back) == Self.found(predicate) && !Self.found(back).isEmpty, "\(format)")
      }
      let both = Filter(
        key: "tags", comparator: .listContainsAll, value: .list([.string("red"), .string("blue")]))
      var other = both
      other.comparator = .notListContainsAll
      let names = [both, other].map { filter in
        Self.found(CKQuery(Query(recordType: "Item", filters: [filter])).predicate)
      }
      let wanted = PredicateFixture.records.filter { $0.list("tags") == ["red", "blue"] }
      #expect(names[0] == wanted.map(\.recordID.recordName))
      #expect(Set(names[0] + names[1]).count == 48 && names[0].count + names[1].count == 48)
    }

    @Test("A compound of one part means that part, and NOT of a block or a mistake is refused")
    func compoundOfOnePartMeansThatPart() throws {
      let small = NSPredicate(format: "n < 5")
      let one = [
        NSCompoundPredicate(orPredicateWithSubpredicates: [small]),
        NSCompoundPredicate(andPredicateWithSubpredicates: [small]),
      ]
      for predicate in one {
        let filters = try CKQuery(recordType: "Item", predicate: predicate).converted().filters
        #expect(filters.map(\.comparator) == [.lessThan])
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
        let opposite = try CKQuery(recordType: "Item", predicate: not).converted().filters
        #expect(opposite.map(\.comparator) == [.greaterThanOrEquals])
      }
      let refused: [(NSPredicate, String)] = [
        (NSPredicate { _, _ in true }, "made from a block"),
        (NSPredicate(format: "a =="), "a value is missing"),
      ]
      for (predicate, sentence) in refused {
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
        let text = refusal(CKQuery(recordType: "Item", predicate: not)) ?? "was not refused"
        #expect(text.contains(sentence), "\(text)")
      }
    }

    @Test("Predicates are equal when their formats mean the same, and otherwise not")
    func predicatesOfOneMeaningAreEqual() {
      let predicate = NSPredicate(format: "a == 1")
      #expect(predicate.isEqual(NSPredicate(format: "(a = %d)", 1)))
      #expect(!predicate.isEqual(NSPredicate(format: "a == 2")))
      #expect(!predicate.isEqual(NSPredicate(value: true)))
    }
  }
#endif
