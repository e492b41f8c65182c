import CloudSync
import Foundation
import Records
import Testing

/// The parts into which Foundation divides a comparison on Apple's platforms, from its
/// documentation; the classes do not exist on Linux.
private enum FoundationModel {
  static func parts(_ comparison: PredicateComparison) -> ComparisonParts? {
    guard let left = parts(comparison.left), let right = parts(comparison.right) else { return nil }
    let operation = ComparisonParts.operators.first { $0.value == comparison.operation }
    let modifier = ComparisonParts.modifiers.first { $0.value == comparison.modifier }
    return ComparisonParts(
      left: left, right: right, operation: operation?.key ?? 2000, modifier: modifier?.key ?? 9,
      options: UInt(comparison.options.rawValue), text: PredicateTree.comparison(comparison).format)
  }

  private static func parts(_ operands: [PredicateOperand]) -> [ExpressionParts]? {
    let parts = operands.compactMap { Self.parts($0) }
    return parts.count == operands.count ? parts : nil
  }

  private static func parts(_ operand: PredicateOperand) -> ExpressionParts? {
    switch operand {
    case .null: .constant(nil)
    case .value(.date(let time)):
      .function(
        "castObject:toType:", target: nil,
        [.constant(time.secondsSinceReferenceDate), .constant("NSDate")])
    case .value(let value): .constant(value.boxed)
    case .list(let members): parts(members).map { .aggregate($0) }
    case .foreign: nil
    case .key(let name): .keyPath(name, text: name)
    case .itself: .evaluatedObject
    case .variable(let name): .variable(name)
    case .function(let name, let arguments):
      parts(arguments).map { .function(name, target: nil, $0) }
    case .arithmetic(let operation, let left, let right):
      parts([left, right]).map { sides in
        let names = PredicateOperand.arithmeticFunctions
        return .function(names.first { $0.value == operation }?.key ?? "", target: nil, sides)
      }
    case .member(let list, .at(let position)):
      parts([list, position]).map { .function("objectFrom:withIndex:", target: nil, $0) }
    case .member(let list, .first): member(list, "FIRST")
    case .member(let list, .last): member(list, "LAST")
    case .member(let list, .size): member(list, "SIZE")
    }
  }

  private static func member(_ list: PredicateOperand, _ word: String) -> ExpressionParts? {
    parts(list).map {
      .function("objectFrom:withIndex:", target: nil, [$0, .other(kind: "11", text: word)])
    }
  }
}

extension PredicateTree {
  fileprivate var comparisons: [PredicateComparison] {
    switch self {
    case .comparison(let comparison): [comparison]
    case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
    case .not(let part): part.comparisons
    case .constant, .invalid, .block: []
    }
  }
}

@Suite("Predicates: Foundation's objects on Apple's platforms")
struct PredicatePartsTests {
  private static var queried: [PredicateComparison] {
    PredicateQueryCases.all.flatMap { one in
      PredicateTree(format: one.format, arguments: one.arguments).comparisons
    }
  }

  private static var refused: [PredicateComparison] {
    PredicateLocalCases.all.flatMap { one, _ in
      PredicateTree(format: one.format, arguments: one.arguments).comparisons
    }
  }

  private static let reference = CKRecord.Reference(
    recordID: PredicateFixture.owner(1), action: .none)

  /// Comparisons with each kind of object, in formats that Foundation documents.
  private static var objects: [(format: String, key: String, value: Any)] {
    [
      ("owner == %@", "owner", reference), ("owner == %@", "owner", PredicateFixture.owner(2)),
      ("recordID == %@", "recordID", PredicateFixture.owner(1)),
      ("place == %@", "place", PredicateFixture.place(1)),
      ("raw == %@", "raw", Data([1, 2])), ("when == %@", "when", PredicateFixture.date(1)),
      ("name == %@", "name", "a \"b\" \\c"), ("n == %@", "n", 7), ("score == %@", "score", 0.5),
      ("tags == %@", "tags", ["red", "blue"]),
    ]
  }

  /// Proves CS-90.
  @Test("A query keeps the objects that a comparison has as constants")
  func queryKeepsConstantObjects() throws {
    for (format, key, value) in Self.objects {
      let predicate = NSPredicate(format: format, argumentArray: [value])
      let query = try CKQuery(recordType: "Item", predicate: predicate).converted()
      if !(value is CKRecord.ID) {
        #expect(query.filters.first?.value == FieldValue(value), "\(format)")
      }
      let parts = ComparisonParts(
        left: .keyPath(key, text: key), right: .constant(value), operation: 4, modifier: 0,
        options: 0, text: "\(key) == \(value)")
      #expect(PredicateTree(parts) == PredicateTree(predicate), "\(format)")
      let back = CKQuery(query)
      #expect(try back.converted() == query, "\(back.predicate)")
    }
  }

  /// Proves CS-90.
  @Test("The parts of Foundation's comparisons have the meaning of the format")
  func partsMeanWhatFormatMeans() throws {
    #expect(Self.queried.count > 60 && Self.refused.count > 10)
    for comparison in Self.queried + Self.refused {
      guard let parts = FoundationModel.parts(comparison) else { continue }
      #expect(PredicateTree(parts) == .comparison(comparison))
    }
  }

  @Test("Parts that only Foundation has are refused by queries, or mean what the format means")
  func unusualPartsAreRefusedOrConverted() {
    func tree(_ left: ExpressionParts, _ right: ExpressionParts, operation: UInt = 4)
      -> PredicateTree
    {
      PredicateTree(
        ComparisonParts(
          left: left, right: right, operation: operation, modifier: 0, options: 0, text: "a ~ b"))
    }
    let a = ExpressionParts.keyPath("a", text: "a")
    let one = ExpressionParts.constant(1)
    func format(_ format: String) -> PredicateTree { PredicateTree(format: format, arguments: []) }
    #expect(tree(.keyPath("SELF.a", text: "SELF.a"), one) == format("a == 1"))
    #expect(tree(a, .constant(NSNull())) == format("a == nil"))
    #expect(tree(a, .constant([1, 2]), operation: 10) == format("a IN {1, 2}"))
    #expect(
      tree(.function("add:to:", target: one, [a]), one) == format("1 + a == 1"),
      "as FUNCTION writes it")
    let refused: [(PredicateTree, String)] = [
      (tree(.keyPath("a", text: "$v.a"), one), "key path of a value"),
      (tree(.keyPath("a", text: "FUNCTION(b, \"c\").a"), one), "key path of a value"),
      (tree(a, .other(kind: "expression 13", text: "SUBQUERY(...)")), "expression 13"),
      (tree(.function("median:", target: nil, [a]), one), "median:"),
      (
        tree(.function("castObject:toType:", target: nil, [one, .constant("NSString")]), a), "castO"
      ),
      (tree(a, one, operation: 11), "unknown operator"),
      (tree(a, .constant(Set([1])), operation: 10), "Set<Int>"),
    ]
    for (tree, sentence) in refused {
      let query = CKQuery(recordType: "Item", predicate: tree.predicate)
      let error = #expect(throws: CKError.self, "\(tree)") { try query.converted() }
      #if !canImport(Darwin)
        #expect(error?.localizedDescription.contains(sentence) == true, "\(sentence)")
      #endif
    }
  }

  @Test("A comparison that a query takes has a template, which is read back equal")
  func templateIsReadBackEqual() {
    for comparison in Self.queried {
      guard let template = PredicateTemplate(comparison) else {
        Issue.record("no template for \(PredicateTree.comparison(comparison).format)")
        continue
      }
      let read = PredicateTree(format: template.format, arguments: template.arguments)
      #expect(read == .comparison(comparison), "\(template.format)")
    }
  }

  @Test("Each filter of a fetched subscription has a template")
  func filtersHaveTemplates() {
    for comparator in Query.Filter.Comparator.allCases {
      let value: FieldValue =
        switch comparator {
        case .near: .location(PredicateFixture.place(1).value)
        case .isIn, .isNotIn, .listContainsAny, .notListContainsAny, .listContainsAll,
          .notListContainsAll:
          .list([.string("a"), .string("b")])
        default: .string("a")
        }
      for key in ["note", ""] where !key.isEmpty || comparator == .containsAllTokens {
        let filter = Query.Filter(key: key, comparator: comparator, value: value, distance: 5)
        let comparisons = PredicateTree([filter]).comparisons
        #expect(!comparisons.isEmpty)
        for comparison in comparisons {
          #expect(PredicateTemplate(comparison) != nil, "\(comparator)")
        }
      }
    }
  }

  @Test("What Apple's documentation does not name has no template")
  func undocumentedTextHasNoTemplate() {
    let a = PredicateOperand.key("a")
    var deep = a
    for _ in 0..<100 { deep = .arithmetic(.add, deep, a) }
    let comparisons = [
      PredicateComparison(a, .equals, .foreign(type: "T", text: "t", members: nil)),
      PredicateComparison(a, .equals, .list([.foreign(type: "T", text: "t", members: [])])),
      PredicateComparison(a, .equals, .function("median:", [a])),
      PredicateComparison(a, .equals, .function("sum:", [a, a])),
      PredicateComparison(a, .between, .list([a, a]), options: .caseInsensitive),
      PredicateComparison(a, .equals, .variable("v == 1 OR b")),
      PredicateComparison(a, .equals, .variable("")), PredicateComparison(a, .equals, .key("")),
      PredicateComparison(.member(.itself, .first), .equals, a),
      PredicateComparison(deep, .equals, a),
    ]
    for comparison in comparisons {
      #expect(
        PredicateTemplate(comparison) == nil, "\(PredicateTree.comparison(comparison).format)")
    }
  }

  @Test("An archive of a share or a subscription is read with secure coding by its own class")
  func everyArchivedClassSupportsSecureCoding() {
    let answers = [
      CKShare.supportsSecureCoding, CKDatabaseSubscription.supportsSecureCoding,
      CKRecordZoneSubscription.supportsSecureCoding, CKQuerySubscription.supportsSecureCoding,
    ]
    #expect(answers == [true, true, true, true])
  }
}
