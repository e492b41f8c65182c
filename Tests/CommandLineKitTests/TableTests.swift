import CommandLineKit
import Testing

@Suite("Tables, widths and colors")
struct TableTests {
  private static let table = Table(
    [.init("ID", .id), .init("NAME", .text), .init("SIZE", .number)],
    [
      ["0A1B2C3D-4444", .init("a name that is rather long", .yellow), "7"],
      ["0A1B2C3D-5555", "短い名前 🧩\u{7}", "1200"],
    ])

  @Test("A table fits the terminal, counts wide letters as two columns and is complete elsewhere")
  func tableFitsTerminalAndWideLetters() {
    let cases: [(Terminal, [String])] = [
      (
        Terminal(isTerminal: false, width: nil, hasColors: false),
        ["0A1B2C3D-4444  a name that is rather long  7", "0A1B2C3D-5555  短い名前 🧩   1200"]
      ),
      (
        Terminal(isTerminal: true, width: 80, hasColors: false),
        [
          "ID          NAME                        SIZE",
          "0A1B2C3D-4  a name that is rather long     7",
          "0A1B2C3D-5  短い名前 🧩                 1200",
        ]
      ),
      (
        Terminal(isTerminal: true, width: 28, hasColors: false),
        [
          "ID          NAME        SIZE", "0A1B2C3D-4  a name th…     7",
          "0A1B2C3D-5  短い名前 …  1200",
        ]
      ),
    ]
    for (terminal, lines) in cases {
      #expect(Self.table.lines(for: terminal) == lines, "\(terminal)")
      if let width = terminal.width {
        #expect(Self.table.lines(for: terminal).allSatisfy { $0.displayWidth <= width })
      }
    }
    let colored = Self.table.lines(for: Terminal(isTerminal: true, width: 28, hasColors: true))
    #expect(colored[1].contains("\u{1B}[33ma name th…\u{1B}[0m  "), "\(colored[1])")
  }

  @Test("The width in columns is correct for plain, wide and combined characters and emoji")
  func columnWidthCountsWideCharacters() {
    let cases = [
      ("abc", 3), ("é", 1), ("e\u{301}", 1), ("中文", 4), ("한", 2), ("ｶ", 1), ("Ａ", 2),
      ("🧩", 2), ("👩‍👩‍👧", 2), ("🇯🇵", 2), ("⬛", 2), ("1️⃣", 2), ("", 0), ("a\u{200B}", 1),
    ]
    for (text, width) in cases { #expect(text.displayWidth == width, "\(text)") }
    #expect("中文字".cut(to: 5) == "中文…" && "中文字".cut(to: 4) == "中…" && "abc".cut(to: 3) == "abc")
    #expect("abc".cut(to: 0) == "")
  }

  @Test("Colors and width follow the environment and the chosen option")
  func colorsFollowEnvironmentAndOption() {
    // A descriptor nobody has is no terminal.
    let cases: [(Terminal.Colors, [String: String], Bool)] = [
      (.auto, [:], false), (.always, [:], true), (.always, ["NO_COLOR": "1"], true),
      (.never, [:], false),
    ]
    for (colors, environment, hasColors) in cases {
      let terminal = Terminal(descriptor: -1, colors: colors, environment: environment)
      #expect(terminal.hasColors == hasColors && terminal.width == nil && !terminal.isTerminal)
    }
  }

  @Test("Detail columns are dropped before texts become hard to read in a narrow table")
  func detailColumnsAreDroppedFirst() {
    let table = Table(
      [.init("ID", .id), .init("NAME", .text), .init("", isDetail: true)],
      [["0A1B2C3D", "a name that is long", "(swift)"], ["0A1B2C3E", "short", "(markdown)"]])
    let cases: [(Int, [String])] = [
      (
        41,
        [
          "ID        NAME", "0A1B2C3D  a name that is long  (swift)",
          "0A1B2C3E  short                (markdown)",
        ]
      ),
      (
        38,
        [
          "ID        NAME", "0A1B2C3D  a name that is …  (swift)",
          "0A1B2C3E  short             (markdown)",
        ]
      ),
      (37, ["ID        NAME", "0A1B2C3D  a name that is long", "0A1B2C3E  short"]),
      (20, ["ID        NAME", "0A1B2C3D  a name th…", "0A1B2C3E  short"]),
    ]
    for (width, lines) in cases {
      let terminal = Terminal(isTerminal: true, width: width, hasColors: false)
      #expect(table.lines(for: terminal) == lines, "\(width)")
    }
  }
}
