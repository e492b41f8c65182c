import Foundation
import Testing

@testable import GameResultStore
@testable import ShareTexts

@Suite("Share texts")
struct GameResultParserTests {
  /// One paste and what is to come of it, as `game score/limit puzzle day` for each result.
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var results: [String] = []
    var problems: [ShareTextError] = []
    var data: [String: String] = [:]
    var testDescription: String { String(text.prefix(40)) }
  }

  static let parser = ShareTextParser(calendar: ResultDevice.calendar)

  static func told(_ result: GameResult) -> String {
    let score = result.score.map { String($0) } ?? (result.completed ? "?" : "X")
    let puzzle = result.parsedData["puzzle"] ?? "-"
    let day = PuzzleDay(result.date, ResultDevice.calendar).text
    return "\(result.gameName) \(score)/\(result.maxAttempts) \(puzzle) \(day)"
  }

  static let cases: [Case] = [
    // The number, as people's languages group it.
    Case(text: "Wordle 1,963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1.963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1 963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1\u{202f}963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1\u{a0}963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1’963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle 1963 4/6", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(text: "Wordle #963 4/6", results: ["Wordle 4/6 963 2024-02-07"]),
    Case(text: "Ｗｏｒｄｌｅ １，９６３ ４／６", results: ["Wordle 4/6 1963 2026-11-03"]),
    // Case, spacing, marks nobody sees.
    Case(text: "  wordle   1,963   4 / 6  ", results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(
      text: "\u{feff}\u{200e}Wordle 1,963\t4/6\r\n\r\n🟩🟩🟩🟩🟩",
      results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(
      text: "> Wordle 1,963 4/6\n> ⬛🟨⬛⬛⬛\n> 🟩🟩🟩🟩🟩", results: ["Wordle 4/6 1963 2026-11-03"],
      data: ["grid": ".Y...\nGGGGG"]),
    // Fails, hard mode, missing grid, other colors.
    Case(
      text: "Wordle 1,963 X/6*\n\n⬛⬛⬛⬛⬛", results: ["Wordle X/6 1963 2026-11-03"],
      data: ["hardMode": "true"]),
    Case(
      text: "Wordle 1,963 2/6\n⬜️🟦⬜️🟧⬜️\n\n🟧🟧🟧🟧🟧", results: ["Wordle 2/6 1963 2026-11-03"],
      data: ["grid": ".Y.G.\nGGGGG"]),
    Case(
      text: "Wordle 1,963 1/6 :large_green_square::large_green_square:",
      results: ["Wordle 1/6 1963 2026-11-03"]),
    // Impossible scores and numbers.
    Case(text: "Wordle 1,963 7/6", problems: [.impossibleScore(game: "Wordle", line: 1)]),
    Case(text: "Wordle 1,963 0/6", problems: [.impossibleScore(game: "Wordle", line: 1)]),
    Case(text: "Wordle 1,963 4/5", problems: [.impossibleScore(game: "Wordle", line: 1)]),
    Case(text: "Wordle 999,999 4/6", results: ["Wordle 4/6 999999 2026-11-03"]),
    // Chatter, several in one paste, unknown games.
    Case(
      text: "Phew! Wordle 1,963 4/6 — you?\nWorldle #1747 (03.11.2026) X/6 (87%)\nbye",
      results: ["Wordle 4/6 1963 2026-11-03", "Worldle X/6 1747 2026-11-03"]),
    Case(
      text: "I like Wordle and Connections.\nSpelling Bee too.\nWordle 1,962 3/6",
      results: ["Wordle 3/6 1962 2026-11-02"]),
    Case(
      text: "Foodle 123 4/6\n\nWordle 1,962 3/6", results: ["Wordle 3/6 1962 2026-11-02"],
      problems: [.unknownGame(line: 1)]),
    // Connections.
    Case(
      text: "Connections \r\nPuzzle #1,241\r\n🟨🟨🟨🟨\r\n🟩🟩🟦🟩\r\n🟩🟩🟩🟩\r\n🟦🟦🟦🟦\r\n🟪🟪🟪🟪",
      results: ["Connections 5/7 1241 2026-11-03"], data: ["mistakes": "1"]),
    Case(
      text: "Connections\nPuzzle #1241\n🟨🟩🟦🟪\n🟨🟩🟦🟦\n🟨🟩🟩🟪\n🟨🟨🟦🟪",
      results: ["Connections X/7 1241 2026-11-03"]),
    Case(
      text: "Connections\nPuzzle #1241",
      problems: [.incomplete(game: "Connections", missing: "its rows of squares", line: 1)]),
    Case(
      text: "Connections\nPuzzle #1241\n🟨🟨🟨🟨",
      problems: [.incomplete(game: "Connections", missing: "some of its rows", line: 1)]),
    // The others.
    Case(
      text: "Strands #975\n“Tea time”\n🔵💡🔵🟡\n🔵💡🔵", results: ["Strands 2/0 975 2026-11-03"],
      data: ["theme": "Tea time", "words": "5"]),
    Case(
      text: "I solved the 11/2/2026 New York Times Mini Crossword in 1:23!",
      results: ["Mini Crossword 83/0 - 2026-11-02"]),
    Case(text: "NYT Mini Crossword 2026-11-01 0:47", results: ["Mini Crossword 47/0 - 2026-11-01"]),
    Case(
      text: "[11/3/2026, 9:41] Ann: did you do the Mini Crossword?\n[11/3/2026, 9:42] Bob: no",
      problems: [.incomplete(game: "Mini Crossword", missing: "the time", line: 1)]),
    Case(
      text: "03.11.26, 9:41 - Ann: did you do the Mini Crossword?\n"
        + "03.11.26, 9:42 - Bob: Wordle 1,963 4/6",
      results: ["Wordle 4/6 1963 2026-11-03"]),
    Case(
      text: "[11/3/2026, 9:41] Ann: Mini Crossword\n0:47 today!",
      results: ["Mini Crossword 47/0 - 2026-11-03"]),
    Case(text: "The Mini: 0:31", results: ["Mini Crossword 31/0 - 2026-11-03"]),
    Case(
      text: "I reached Genius on the NYT Spelling Bee with 152 points",
      results: ["Spelling Bee 152/0 - 2026-11-03"], data: ["rank": "Genius"]),
    Case(
      text: "Spelling Bee 2026-11-01\nRank: Great\nScore: 74\nWords: 20",
      results: ["Spelling Bee 74/0 - 2026-11-01"], data: ["rank": "Great", "words": "20"]),
    Case(
      text: "Spelling Bee 2026-11-01\nRank: Great",
      problems: [.incomplete(game: "Spelling Bee", missing: "the points", line: 1)]),
    Case(
      text: "Daily Quordle 1733\n6️⃣5️⃣\n8️⃣7️⃣", results: ["Quordle 8/9 1733 2026-11-03"],
      data: ["words": "6,5,8,7"]),
    Case(text: "Daily Quordle #1733\n🟥5️⃣\n8️⃣7️⃣", results: ["Quordle X/9 1733 2026-11-03"]),
    Case(
      text: "Daily Quordle 1733\n6️⃣5️⃣",
      problems: [.incomplete(game: "Quordle", missing: "the numbers of its 4 words", line: 1)]),
    Case(
      text: "Daily Octordle #1740\n8️⃣4️⃣\n5️⃣9️⃣\n🔟6️⃣\n🕚7️⃣\nScore: 60",
      results: ["Octordle 11/13 1740 2026-11-03"], data: ["points": "60"]),
    Case(text: "Daily Dordle 0123 4&6/7", results: ["Dordle 6/7 123 2026-11-03"]),
    Case(text: "Daily Dordle 0123 X&6/7", results: ["Dordle X/7 123 2026-11-03"]),
    Case(text: "nerdlegame 1748 3/6\n\n🟪⬛🟩🟪⬛⬛🟩⬛", results: ["Nerdle 3/6 1748 2026-11-03"]),
    Case(
      text: "mini nerdlegame 1748 3/6", results: ["Nerdle 3/6 1748 2026-11-03"],
      data: ["variant": "mini"]),
    Case(
      text: "#Worldle #1746 (02.11.2026) 2/6 (100%)\n🟩🟩🟩🟨⬜⬅️\n🟩🟩🟩🟩🟩🎉",
      results: ["Worldle 2/6 1746 2026-11-02"], data: ["percent": "100", "grid": "GGGY.\nGGGGG"]),
    Case(
      text: "🌎 Nov 2, 2026 🌍\n🔥 5 | Avg. Guesses: 7.3\n🟨🟥🟩 = 9\n#globle",
      results: ["Globle 9/0 - 2026-11-02"]),
    Case(text: "#Tradle #1701 3/6\n🟩🟩🟨⬜⬜", results: ["Tradle 3/6 1701 2026-11-03"]),
    Case(text: "Framed #1695\n🎥 🟥 🟥 🟩 ⬛ ⬛ ⬛", results: ["Framed 3/6 1695 2026-11-03"]),
    Case(text: "Framed #1695\n🎥 🟥 🟥 🟥 🟥 🟥 🟥", results: ["Framed X/6 1695 2026-11-03"]),
    Case(
      text: "Framed #1695",
      problems: [.incomplete(game: "Framed", missing: "its row of squares", line: 1)]),
    Case(text: "#Heardle #612\n\n🔉🟥⬛️🟩⬜️⬜️⬜️", results: ["Heardle 3/6 612 2026-11-03"]),
    Case(text: "#Heardle #612\n\n🔇🟥⬛️🟥⬛️⬛️⬛️", results: ["Heardle X/6 612 2026-11-03"]),
    Case(text: "Bandle #1540 3/6\n⬛⬛🟩⬜⬜⬜", results: ["Bandle 3/6 1540 2026-11-03"]),
    Case(text: "#waffle1750 0/5", results: ["Waffle 0/5 1750 2026-11-03"]),
    Case(text: "#waffle1750 X/5", results: ["Waffle X/5 1750 2026-11-03"]),
    Case(
      text: "I played contexto.me #1505 and got it in 57 guesses and 2 hints.",
      results: ["Contexto 57/0 1505 2026-11-03"], data: ["hints": "2"]),
    Case(
      text: "I played contexto.me #1505 but I gave up in 12 guesses",
      results: ["Contexto X/0 1505 2026-11-03"]),
    Case(
      text: "Queens #917 | 0:45 and flawless", results: ["Queens 45/0 917 2026-11-03"],
      data: ["flawless": "true"]),
    Case(text: "Tango #757\n1:02:03 🏅", results: ["Tango 3723/0 757 2026-11-03"]),
    Case(
      text: "Zip #596 is hard", problems: [.incomplete(game: "Zip", missing: "the time", line: 1)]),
  ]

  @Test(
    "G: The share text of each game is parsed in the form in which users paste it", arguments: cases
  )
  func eachGameShareTextIsParsed(_ example: Case) throws {
    let reading = try Self.parser.read(example.text, playedOn: ResultDevice.noon)
    #expect(reading.results.map(Self.told) == example.results)
    #expect(reading.problems == example.problems)
    let data = reading.results.first?.parsedData ?? [:]
    let missing = example.data.filter { data[$0.key] != $0.value }
    #expect(missing.isEmpty, "read \(data)")
  }

  @Test(
    "Text that is not a result gives a clear error",
    arguments: [
      ("", ShareTextError.empty), (" \n\u{200b}\t ", .empty), ("hello", .nothingRecognised),
      ("Wordle", .nothingRecognised), ("Wordle 4/6", .nothingRecognised),
      ("🟩🟩🟩🟩🟩", .nothingRecognised), ("Foodle 123 4/6", .unknownGame(line: 1)),
      ("Wordle 1 3/6\nWordle 2 3/6", .severalResults(2)),
    ])
  func textWithoutResultGivesError(_ text: String, _ error: ShareTextError) {
    #expect(throws: error) {
      try Self.parser.readOne(text, playedOn: ResultDevice.noon)
    }
    #expect(!error.description.contains("Foodle") && error.description.hasSuffix("."))
  }

  @Test("Text longer than any real share text is refused")
  func overlongTextIsRefused() {
    let text = String(repeating: "a", count: 2_000_001)
    #expect(throws: ShareTextError.tooLong) {
      try Self.parser.readOne(text, playedOn: ResultDevice.noon)
    }
  }

  static func fixture() throws -> String {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Examples/GameResultStore/Samples/share-texts.txt")
    return try String(contentsOf: file, encoding: .utf8)
  }

  @Test("G: The sample file of share texts is parsed completely")
  func sampleFileParsesCompletely() throws {
    let reading = try Self.parser.read(Self.fixture(), playedOn: ResultDevice.noon)
    #expect(reading.problems == [])
    #expect(reading.results.count == 71)
    #expect(Set(reading.results.map(\.gameName)) == Set(Game.all.map(\.name)))
    #expect(Set(reading.results.map(\.id)).count == 71)
    let broken = reading.results.filter { result in
      let isSolved = result.score != nil
      let again = try? Self.parser.readOne(result.sharedText, playedOn: result.date)
      return isSolved != (result.completed || result.gameName == "Spelling Bee")
        || again != result
    }
    #expect(broken.map { "\($0.gameName): \($0.sharedText)" } == [])
  }

  @Test("G: A puzzle has the same ID on every device and in every version")
  func samePuzzleHasSameID() throws {
    func id(_ text: String, on day: Double = 0) throws -> String {
      try Self.parser.readOne(text, playedOn: ResultDevice.noon + day * 86_400).id.uuidString
    }
    let wordle = try id("Wordle 1,963 4/6")
    #expect(wordle == "F2DAA0F6-22CE-8F35-959D-8308F15B5406")
    #expect(try id("Wordle 1,963 4/6") == id("Wordle 1963 X/6*", on: 3))
    #expect(try id("Wordle 1,963 4/6") != id("Wordle 1,962 4/6"))
    #expect(try id("Wordle 1,963 4/6") != id("Bandle 1,963 4/6"))
    #expect(try id("nerdlegame 1748 3/6") != id("mini nerdlegame 1748 3/6"))
    #expect(try id("The Mini: 0:31") != id("The Mini: 0:31", on: 1))
    let ids = Game.all.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(Game.wordle.id.uuidString == "5A3E71C0-9B42-4D17-8E60-2F4C11D9A501")
  }

  @Test("G: Any text at all gives results or an error, never a trap")
  func arbitraryTextNeverTraps() throws {
    let pieces = [
      "Wordle", "Connections", "Quordle", "Mini Crossword", "Spelling Bee", "🌎", "Strands", "Zip",
      "#", "1,963", "4/6", "X/6", "/", "&", ":", "-", ".", "\n", "\r", "\r\n", " ", "🟩", "4️⃣",
      "\u{20e3}", "(", ")", "%", "= 7", "999999999999999999999", "0:47", "11/3/2026", "“", "”",
      "Genius", "points", ":large_green_square:", "\u{0}", "\u{10ffff}", "contexto.me", "Puzzle",
    ]
    var seed: UInt64 = 42
    func next(_ bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((seed >> 33) % UInt64(bound))
    }
    var read = 0
    for _ in 0..<20_000 {
      let text = (0..<next(12)).map { _ in pieces[next(pieces.count)] }.joined(
        separator: next(2) == 0 ? " " : "")
      if let reading = try? Self.parser.read(text, playedOn: ResultDevice.noon) {
        read += reading.results.count
      }
    }
    #expect(read > 20)
  }
}
