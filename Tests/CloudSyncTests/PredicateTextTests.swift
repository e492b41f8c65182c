import CloudSync
import Foundation
import Records
import Testing

// On Apple's platforms Foundation parses and prints predicates itself, and ends the process for a
// format that it cannot read.
#if !canImport(Darwin)
  @Suite("Predicates: their text")
  struct PredicateTextTests {
    /// A generator that gives the same predicates for the same seed.
    private struct Generator {
      var state: UInt64

      mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
      }

      mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

      mutating func tree(_ depth: Int) -> PredicateTree {
        guard depth > 0, below(3) > 0 else { return comparison(depth) }
        switch below(4) {
        case 0: return .not(tree(depth - 1))
        case 1: return .constant(below(2) == 0)
        case 2: return .and((0...(1 + below(3))).map { _ in tree(depth - 1) })
        default: return .or((0...(1 + below(3))).map { _ in tree(depth - 1) })
        }
      }

      private mutating func comparison(_ depth: Int) -> PredicateTree {
        let options = PredicateComparison.Options(rawValue: below(4) == 0 ? UInt8(below(16)) : 0)
        return .comparison(
          PredicateComparison(
            expression(min(depth, 2)), pick(PredicateComparison.Operator.allCases),
            expression(min(depth, 2)), modifier: pick([.direct, .direct, .any, .all]),
            options: options))
      }

      mutating func expression(_ depth: Int) -> PredicateOperand {
        let text = String(
          String.UnicodeScalarView(
            (0..<below(6)).map { _ in pick(Array("aZ9 '\"\\\n\té😀{%@#".unicodeScalars)) }))
        switch below(depth > 0 ? 12 : 8) {
        case 0: return .value(.string(text))
        case 1: return .value(.int64(pick([0, 1, -1, .min, .max, Int64(below(1000))])))
        case 2:
          return .value(.double(pick([0.5, -1e300, 1e-300, 12, -0.0, Double(below(99)) / 7])))
        case 3: return .value(.date(Timestamp(secondsSinceReferenceDate: Double(below(99)) / 4)))
        case 4: return pick([.null, .itself, .variable("v"), .function("now", [])])
        case 5...7:
          return .key(pick(["a", "in", "name", "any", "size", "a.b", "a.@count", "x.or", "É"]))
        case 8: return .list((0..<below(4)).map { _ in expression(depth - 1) })
        case 9:
          return .arithmetic(
            pick(PredicateOperand.Arithmetic.allCases), expression(depth - 1),
            expression(depth - 1))
        case 10: return .function("lowercase:", [expression(depth - 1)])
        default:
          return .member(
            expression(depth - 1), pick([.first, .last, .size, .at(expression(depth - 1))]))
        }
      }
    }

    @Test("Any predicate that is printed and read again is equal and prints the same")
    func printedPredicateIsReadBackEqual() {
      var generator = Generator(state: 20_261_121)
      for _ in 0..<3000 {
        let tree = generator.tree(4)
        let text = tree.format
        let read = PredicateTree(format: text, arguments: [])
        #expect(read.format == text)
        #expect(read == tree, "\(text)")
        guard read == tree else { return }
      }
    }

    @Test("A random comparison with a template is read back equal from its format and arguments")
    func randomTemplateIsReadBackEqual() {
      var generator = Generator(state: 20_261_129)
      var count = 0
      for _ in 0..<6000 {
        guard case .comparison(let comparison) = generator.tree(2),
          let template = PredicateTemplate(comparison)
        else { continue }
        count += 1
        let read = PredicateTree(format: template.format, arguments: template.arguments)
        #expect(read == .comparison(comparison), "\(template.format)")
        guard read == .comparison(comparison) else { return }
      }
      #expect(count > 500)
    }

    /// Proves CS-88.
    @Test("Random predicates are evaluated, described, archived and converted without a trap")
    func randomPredicatesEvaluateWithoutTrap() throws {
      var generator = Generator(state: 7)
      for _ in 0..<1000 {
        let predicate = generator.tree(3).predicate
        for record in PredicateFixture.records.prefix(3) { _ = predicate.evaluate(with: record) }
        let query = CKQuery(recordType: "Item", predicate: predicate)
        #expect(!query.description.isEmpty)
        _ = try? query.converted()
      }
    }

    /// Proves CS-88, I23.
    @Test("Random garbage, and valid formats with parts cut or changed, never trap")
    func malformedFormatsNeverTrap() {
      var generator = Generator(state: 99)
      let pieces = [
        "AND", "OR", "NOT", "(", ")", "{", "}", "[", "]", "==", "<", "IN", "BETWEEN", "%@", "%K",
        "%d",
        "'", "\"", "\\", "a", "b.c", "#in", "$v", "@count", "5", "-", "**", "0x", "1e", ".", ",",
        "ANY",
        "now", "CAST", "FUNCTION", "SELF", "é", "\u{0}", "😀", "[cd]", "LIKE", "MATCHES", "tokenize",
      ]
      let formats = PredicateQueryCases.all.map(\.format)
      for round in 0..<6000 {
        var text: String
        if round % 2 == 0 {
          text = (0..<generator.below(12)).map { _ in generator.pick(pieces) }
            .joined(separator: generator.pick(["", " "]))
        } else {
          text = generator.pick(formats)
          let cut = text.index(text.startIndex, offsetBy: generator.below(text.count + 1))
          text.insert(contentsOf: generator.pick(pieces + [""]), at: cut)
          if generator.below(2) == 0 { text = String(text.prefix(generator.below(text.count + 1))) }
        }
        let arguments: [Any] = [generator.pick(["x", 5, Date(), ["a", 1], NSNull()] as [Any])]
        let predicate = NSPredicate(format: text, argumentArray: arguments)
        _ = predicate.evaluate(with: PredicateFixture.records[1])
        _ = try? CKQuery(recordType: "Item", predicate: predicate).converted()
      }
      #expect(NSPredicate(format: "n == 5").evaluate(with: ["n": 5]))
    }

    @Test("The text of a predicate matches Apple's")
    func predicateTextMatchesApplesFormat() {
      let table: [(NSPredicate, String)] = [
        (
          NSPredicate(format: "a=='x' && !(b<>%d||c in {1,2})", 3),
          "a == \"x\" AND NOT (b != 3 OR c IN {1, 2})"
        ),
        (NSPredicate(format: "ANY t beginswith[CD] %@", "x"), "ANY t BEGINSWITH[cd] \"x\""),
        (NSPredicate(format: "%K == yes AND #any = NULL", "in"), "#in == 1 AND #any == nil"),
        (NSPredicate(format: "x + 1 * 2 > -3"), "x + (1 * 2) > -3"),
      ]
      for (predicate, text) in table { #expect(predicate.description == text) }
    }

    @Test("A parsed format can be printed and parsed again, or is refused as too deep")
    func parsedFormatIsPrintedOrRefused() {
      let signs = String(repeating: "-", count: 60)
      let row = (0..<100).map { "a\($0)" }.joined(separator: " + ")
      for format in [row + " == 1", "\(signs)a == 1"] {
        let text = PredicateTree(format: format, arguments: []).format
        #expect(PredicateTree(format: text, arguments: []).format == text && text.contains("a"))
      }
      let deep = PredicateTree(format: "aa + 2 * \(signs)--aa ** 2 = 5", arguments: [])
      #expect("\(deep)".contains("nested too deeply"), "\(deep.format)")
    }

    @Test("Values without a literal are described, and a summary has the kinds of values only")
    func valuesAreDescribedAndSummarized() {
      let table: [(format: String, argument: Any, text: String, summary: String)] = [
        ("a == %@", "x\ry", "a == \"x\\ry\"", "a == <string>"),
        ("a == %@", Data([1, 2]), "a == <data: 2 bytes>", "a == <bytes>"),
        ("a == %@", CKRecord.ID(recordName: "o"), "a == <reference: o>", "a == <reference>"),
        ("a == %@", CLLocation(latitude: 48, longitude: 2), "a == <48.0,2.0>", "a == <location>"),
        ("a == %@", CKAsset(fileURL: URL(fileURLWithPath: "/x")), "a == <asset>", "a == <asset>"),
        ("a IN %@", Set(["x"]), "a IN <Set<String>: 1 members>", "a IN <Set<String>>"),
        ("a IN %@", [1, 2, 3], "a IN {1, 2, 3}", "a IN {<int64>, <int64>, <int64>}"),
        ("a IN %@", [1, 2, 3, 4], "a IN {1, 2, 3, 4}", "a IN {<int64>, … (4)}"),
      ]
      for (format, argument, text, summary) in table {
        let tree = PredicateTree(format: format, arguments: [argument])
        #expect(tree.format == text && tree.summary == summary)
      }
    }
  }
#endif
