import Foundation
import Testing

@testable import GameResultStore
@testable import ShareTexts

/// The corpus of share texts, as it is and with everything that happens to texts on their way.
@Suite("Row G: a corpus of share texts")
struct GameResultCorpusTests {
  /// One paste of the corpus, with what is to be read.
  struct Paste: Sendable, CustomTestStringConvertible {
    var results: [String] = []
    var problems: [String] = []
    var data: [String: String] = [:]
    var text = ""
    var testDescription: String { results.first ?? problems.first ?? "nothing" }
  }

  static let pastes: [Paste] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Examples/GameResultStore/Samples/corpus.txt")
    let corpus = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let body = corpus.split(separator: "\n\n", maxSplits: 1).last ?? ""
    return body.components(separatedBy: "----\n").filter { !$0.isEmpty }.map(paste)
  }()

  private static func paste(_ block: String) -> Paste {
    var paste = Paste()
    guard let blank = block.range(of: "\n\n") else { return paste }
    for line in block[..<blank.lowerBound].split(separator: "\n") {
      let value = String(line.dropFirst(2))
      switch line.first {
      case "=": paste.results.append(value)
      case "!": paste.problems.append(value)
      default:
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        paste.data[parts[0]] = parts[1].replacingOccurrences(of: "|", with: "\n")
      }
    }
    paste.text = unescaped(String(block[blank.upperBound...]))
    return paste
  }

  /// Puts the marks in that an editor would not show.
  private static func unescaped(_ text: String) -> String {
    var result = ""
    var rest = Substring(text)
    while let slash = rest.firstIndex(of: "\\") {
      result += rest[..<slash]
      rest = rest[rest.index(after: slash)...]
      if rest.hasPrefix("u{"), let close = rest.firstIndex(of: "}"),
        let value = UInt32(rest[rest.index(rest.startIndex, offsetBy: 2)..<close], radix: 16),
        let scalar = Unicode.Scalar(value)
      {
        result.unicodeScalars.append(scalar)
        rest = rest[rest.index(after: close)...]
      } else {
        result += rest.hasPrefix("r") ? "\r" : "\n"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  private static func reading(_ text: String) throws -> ShareTextParser.Reading {
    do {
      return try GameResultParserTests.parser.read(text, playedOn: ResultDevice.noon)
    } catch {
      return ShareTextParser.Reading(results: [], problems: [error])
    }
  }

  @Test(
    "G: Every pasted share text of the corpus is parsed as its header states", arguments: pastes)
  func corpusPastesMatchTheirHeaders(_ paste: Paste) throws {
    let reading = try Self.reading(paste.text)
    #expect(reading.results.map(GameResultParserTests.told) == paste.results)
    #expect(reading.problems.map(\.description) == paste.problems)
    let data = reading.results.first?.parsedData ?? [:]
    #expect(paste.data.filter { data[$0.key] != $0.value } == [:], "read \(data)")
  }

  @Test("G: The corpus has every game of the catalogue and several failed games")
  func corpusCoversEveryGame() {
    let names = Set(
      Self.pastes.flatMap(\.results).map { result in
        Game.all.first { result.hasPrefix($0.name + " ") }?.name ?? result
      })
    #expect(names == Set(Game.all.map(\.name)))
    #expect(Self.pastes.count >= 45)
    #expect(Self.pastes.count { !$0.problems.isEmpty } >= 6)
    #expect(Self.pastes.flatMap(\.results).count { $0.contains(" X/") } >= 7)
  }

  /// What happens to a text between the game and this app, without changing what it says.
  enum Journey: String, CaseIterable {
    case asIs, windowsLines, oldMacLines, lineSeparators, noVariationSelectors, moreSelectors
    case noBreakSpaces, thinSpaces, doubleSpaces, trailingSpaces, indented, blankLines, quoted
    case rightToLeft, zeroWidth, byteOrderMark, fullWidth, upperCase, chatNames, darkToLight
    case chatter, decomposed

    func travel(_ text: String) -> String {
      let lines = text.components(separatedBy: "\n")
      switch self {
      case .asIs: return text
      case .windowsLines: return lines.joined(separator: "\r\n")
      case .oldMacLines: return lines.joined(separator: "\r")
      case .lineSeparators: return lines.joined(separator: "\u{2028}")
      case .noVariationSelectors: return text.replacing("\u{fe0f}")
      case .moreSelectors:
        return text.mapScalars { "⬛⬜⚫⚪".unicodeScalars.contains($0) ? [$0, "\u{fe0f}"] : [$0] }
      case .noBreakSpaces: return text.mapScalars { $0 == " " ? ["\u{a0}"] : [$0] }
      case .thinSpaces: return text.mapScalars { $0 == " " ? ["\u{2009}"] : [$0] }
      case .doubleSpaces: return text.mapScalars { $0 == " " ? [" ", " "] : [$0] }
      case .trailingSpaces: return lines.joined(separator: " \t\n")
      case .indented: return lines.map { "   " + $0 }.joined(separator: "\n")
      case .blankLines: return lines.joined(separator: "\n\n")
      case .quoted: return lines.map { "> " + $0 }.joined(separator: "\n")
      case .rightToLeft:
        return lines.map { "\u{200f}\u{2067}" + $0 + "\u{2069}" }.joined(separator: "\n")
      case .zeroWidth:
        return text.mapScalars { $0.isLetterASCII ? [$0, "\u{200b}"] : [$0] }
      case .byteOrderMark: return "\u{feff}" + text
      case .fullWidth:
        return text.mapScalars { scalar in
          guard ("0"..."9").contains(scalar) || scalar.isLetterASCII,
            let wide = Unicode.Scalar(scalar.value + 0xfee0)
          else { return [scalar] }
          return [wide]
        }
      case .upperCase: return text.uppercased()
      case .chatNames:
        return text.replacing("🟩", ":large_green_square:").replacing("🟨", ":large_yellow_square:")
          .replacing("⬛", ":black_large_square:").replacing("⬜", ":white_large_square:")
      case .darkToLight: return text.replacing("⬛", "⬜")
      case .chatter: return "Good morning, it is 8:30 and 12° here.\n\n\(text)\n\nSee you at 4! 😀"
      case .decomposed: return text.decomposedStringWithCompatibilityMapping
      }
    }

    /// Whether what is read besides the score may differ: letters in capitals, blanks
    /// in a theme, squares in another color.
    var keepsData: Bool { ![.upperCase, .doubleSpaces, .darkToLight].contains(self) }
  }

  @Test(
    "G: A share text gives the same results after every way of copying it",
    arguments: Journey.allCases)
  func shareTextSurvivesEveryTransport(_ journey: Journey) throws {
    var differing: [String] = []
    for paste in Self.pastes where paste.problems.isEmpty {
      let arrived = journey.travel(paste.text)
      let reading = try Self.reading(arrived)
      let data = reading.results.first?.parsedData ?? [:]
      let isSame =
        reading.results.map(GameResultParserTests.told) == paste.results
        && reading.problems.isEmpty
        && (!journey.keepsData || paste.data.allSatisfy { data[$0.key] == $0.value })
      if !isSame {
        let told = reading.results.map(GameResultParserTests.told)
        differing.append("\(paste.results): \(told) \(reading.problems) \(data)")
      }
    }
    #expect(differing == [])
  }

  @Test("G: Several results are parsed from one paste: the whole corpus at once, in any order")
  func wholeCorpusParsesAsOnePaste() throws {
    let whole = Self.pastes.filter { $0.problems.isEmpty }
    for turn in 0..<5 {
      let pastes = (0..<whole.count).map { whole[($0 * 7 + turn * 11) % whole.count] }
      let text = pastes.map(\.text).joined(separator: "\n\n")
      let reading = try Self.reading(text)
      #expect(
        reading.results.map(GameResultParserTests.told) == pastes.flatMap(\.results),
        "turn \(turn)")
      #expect(reading.problems.isEmpty)
    }
  }
}

extension String {
  fileprivate func replacing(_ part: String, _ other: String = "") -> String {
    replacingOccurrences(of: part, with: other, options: .literal)
  }

  fileprivate func mapScalars(_ image: (Unicode.Scalar) -> [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    for scalar in unicodeScalars { view.append(contentsOf: image(scalar)) }
    return String(view)
  }
}

extension Unicode.Scalar {
  fileprivate var isLetterASCII: Bool { properties.isAlphabetic && isASCII }
}
