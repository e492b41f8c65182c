import CloudProtocol
import Foundation
import Records
import Testing
import VerificationSupport

@testable import CloudMachine

/// The keys of indexes against the comparisons of queries.
struct IndexKeyTests {
  private static let long = String(repeating: "a", count: IndexKey.length)
  /// Texts that differ in case, normalization, script and behind the end of a key.
  static let texts = [
    "", "a", "A", "ab", "Ab", "b", "e", "e\u{301}", "\u{e9}", "\u{c9}", "f", "q\u{323}\u{301}",
    "q\u{301}\u{323}", "\u{212a}", "k", "\u{130}", "\u{df}", "\u{3b1}", "\u{391}", "\u{416}",
    "\u{e01}\u{e33}", "\u{4e00}", "\u{f900}", "\u{8c48}", "\u{ac00}\u{11a8}", "\u{ac01}",
    "\u{fffd}", "\u{1f600}", "\u{1f468}\u{200d}\u{1f469}", "\u{10ffff}", long, long + "a",
    long + "b", long.dropLast() + "\u{e9}", "z", "\u{7f}", "\u{80}",
  ]
  static let integers: [Int64] = [
    0, 1, -1, 2, .max, .max - 1, .min, .min + 1, 9_007_199_254_740_993, 9_007_199_254_740_992,
    -9_007_199_254_740_993, 1 << 62, (1 << 62) + 1, (1 << 62) - 1,
  ]
  static let numbers: [Double] = [
    0, -0.0, 1, 1.5, -1, -1.5, .infinity, -.infinity, 9_007_199_254_740_992, 0x1p63, -0x1p63,
    0x1p62, 0x1p62.nextDown, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .nan,
  ]

  private static func text(_ random: inout SeededGenerator) -> String {
    let first = texts[random.below(texts.count)]
    return random.once(in: 2) ? first : first + texts[random.below(texts.count)]
  }

  /// A value as a record has it, of the kind with this number.
  private static func value(_ kind: Int, _ random: inout SeededGenerator) -> FieldValue {
    switch kind {
    case 0: .string(text(&random))
    case 1: .int64(integers[random.below(integers.count)])
    case 2: .double(numbers[random.below(numbers.count)])
    case 3: .date(Timestamp(secondsSinceReferenceDate: numbers[random.below(numbers.count)]))
    case 4: .bytes(Array(repeating: UInt8(random.below(2) * 255), count: random.below(130)))
    case 5: pointer(text(&random), random.once(in: 2) ? World.zone : .default)
    default: .list([.string(text(&random))])
    }
  }

  @Test("the order of keys is that of the values in a sort, and equal values have equal keys")
  func theOrderOfKeysIsThatOfTheValues() {
    var random = SeededGenerator(seed: 1)
    var (ordered, exact) = (0, 0)
    for _ in 0..<40_000 {
      let values = (0..<2).map { _ in
        QueryValue(IndexKeyTests.value(random.below(7), &random))
      }
      let keys = values.map { IndexKey($0) }
      let isSortable = keys.allSatisfy { $0.bytes[0] < IndexKey.Kind.name.rawValue }
      guard isSortable else { continue }
      let order = QueryValue.sortOrder(of: values[0], to: values[1])
      switch order {
      case .less: #expect(!keys[1].isBefore(keys[0]), "\(values)")
      case .greater: #expect(!keys[0].isBefore(keys[1]), "\(values)")
      case .equal: #expect(keys[0] == keys[1], "\(values)")
      }
      ordered += 1
      guard keys[0].isExact, keys[0] == keys[1] else { continue }
      exact += 1
      #expect(order == .equal, "\(values)")
    }
    #expect(ordered > 10_000 && exact > 300)
  }

  @Test("a record that matches a filter has its key in the filter's ranges")
  func aMatchHasItsKeyInTheRanges() throws {
    var random = SeededGenerator(seed: 2)
    var (matches, helped, narrowed) = (0, 0, 0)
    let comparators = Query.Filter.Comparator.allCases
    for _ in 0..<60_000 {
      let kind = random.below(7)
      let other = random.once(in: 4) && (1...2).contains(kind) ? 3 - kind : kind
      let comparator = comparators[random.below(comparators.count)]
      var operand = IndexKeyTests.value(other, &random)
      if random.once(in: 3) {
        operand = .list((0..<3).map { _ in IndexKeyTests.value(other, &random) })
      }
      let key = random.once(in: 8) ? "___recordID" : "f"
      guard
        let filter = try? PreparedFilter(
          filter(key, comparator, operand, distance: 5), type: nil, user: nil)
      else { continue }
      var record = Record(id: id(IndexKeyTests.text(&random)), type: "Item")
      if !random.once(in: 9) { record.fields["f"] = Field(IndexKeyTests.value(kind, &random)) }
      guard let field = filter.field else { continue }
      var examined = ExaminedField(field, of: record)
      guard let ranges = filter.ranges else { continue }
      helped += 1
      let bytes = try #require(IndexKey(of: field.key, in: record)).bytes
      let isInside = ranges.contains { range in
        !bytes.lexicographicallyPrecedes(range.lower)
          && bytes.lexicographicallyPrecedes(range.upper)
      }
      if !isInside { narrowed += 1 }
      guard filter.holds(for: &examined) else { continue }
      matches += 1
      #expect(isInside, "\(comparator) \(operand) \(record.fields)")
    }
    #expect(
      matches > 1_000 && helped > 5_000 && narrowed > 2_000, "\(matches) \(helped) \(narrowed)")
  }

  @Test("no text that has another canonical form counts as canonical, whatever its characters")
  func onlyCanonicalTextsAreCanonical() {
    var decomposed = 0
    for value in [0...0x33ff, 0xa000...0xd7ff, 0xf900...0x1ffff, 0x2f800...0x2fa1f].joined() {
      guard let scalar = Unicode.Scalar(UInt32(value)),
        scalar.properties.generalCategory != .unassigned
      else { continue }
      let text = String(scalar)
      let parts = text.decomposedStringWithCanonicalMapping
      guard !parts.unicodeScalars.elementsEqual(text.unicodeScalars) else { continue }
      decomposed += 1
      for form in [text, parts, "a" + parts, text + parts] where CanonicalText.isCanonical(form) {
        let composed = form.precomposedStringWithCanonicalMapping
        #expect(
          composed.unicodeScalars.elementsEqual(form.unicodeScalars),
          "\(form.unicodeScalars.map { String($0.value, radix: 16) })")
      }
    }
    #expect(decomposed > 12_000)
    #expect(["Zürich", "東京", "Ж", "ก็", "👩‍🚀"].allSatisfy(CanonicalText.isCanonical))
  }

  @Test("ranges that overlap become one, and their order is that of the keys")
  func overlappingRangesAreMerged() {
    func range(_ lower: UInt8, _ upper: UInt8) -> IndexRange {
      IndexRange(lower: [lower], upper: [upper])
    }
    #expect(
      IndexRange.merged([range(5, 7), range(1, 3), range(2, 4), range(6, 6), range(4, 5)])
        == [range(1, 4), range(4, 5), range(5, 7)])
    #expect(IndexRange(IndexKey(.integer(1))).isOneKey && !IndexRange(kind: .number).isOneKey)
    #expect(!IndexRange(kind: .text, prefix: "").isOneKey)
    #expect(IndexRange(kind: .text, prefix: IndexKeyTests.long).isOneKey)
  }
}
