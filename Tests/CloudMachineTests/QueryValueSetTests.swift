import Records
import Testing
import VerificationSupport

@testable import CloudMachine

/// A set of values against a comparison with each of them.
struct QueryValueSetTests {
  private static let strings = ["a", "A", "b", "e\u{301}", "\u{e9}", "", "record", "\u{df}"]
  private static let numbers: [Double] = [
    0, -0.0, 1, 1.5, -1, .nan, .infinity, 9_007_199_254_740_992, 9_223_372_036_854_775_808,
    -9_223_372_036_854_775_808, .leastNonzeroMagnitude,
  ]
  private static let integers: [Int64] = [
    0, 1, -1, 2, .max, .min, 9_007_199_254_740_993, 9_007_199_254_740_992,
  ]

  /// A value as a record has it.
  private func value(_ random: inout SeededGenerator) -> FieldValue {
    switch random.below(6) {
    case 0: return .string(Self.strings[random.below(Self.strings.count)])
    case 1: return .int64(Self.integers[random.below(Self.integers.count)])
    case 2: return .double(Self.numbers[random.below(Self.numbers.count)])
    case 3:
      let time = Self.numbers[random.below(Self.numbers.count)]
      return .date(Timestamp(secondsSinceReferenceDate: time))
    case 4: return .bytes(Array(repeating: 7, count: random.below(3)))
    default:
      let zone = random.once(in: 2) ? World.zone : .default
      let name = Self.strings[random.below(Self.strings.count)]
      return .reference(Reference(target: id(name, zone), action: .none))
    }
  }

  private func values(_ count: Int, _ random: inout SeededGenerator) throws -> [QueryValue] {
    try (0..<count).map { _ in try #require(QueryValue(value(&random))) }
  }

  /// Proves CS-214.
  @Test("a set finds exactly the values that are equal to one of its own", arguments: 1...20)
  func aSetFindsWhatTheComparisonFinds(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var found = 0
    for _ in 0..<300 {
      var operands = try values(random.below(12), &random)
      if random.once(in: 3) { operands.append(.name("record")) }
      let set = QueryValueSet(operands)
      let members = try values(random.below(30), &random)
      func isEqual(_ value: QueryValue, _ operand: QueryValue) -> Bool {
        value.order(to: operand) == .equal
      }
      for value in members {
        let expected = operands.contains { isEqual(value, $0) }
        if expected { found += 1 }
        #expect(set.contains(value) == expected, "\(value) in \(operands), seed \(seed)")
      }
      let isCovered = operands.allSatisfy { operand in members.contains { isEqual($0, operand) } }
      #expect(set.isCovered(by: members) == isCovered, "\(operands) by \(members), seed \(seed)")
    }
    #expect(found > 500)
  }
}
