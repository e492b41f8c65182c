import CommandLineKit
import Testing

@Suite("Usage lines, options and near words")
struct UsageLineTests {
  @Test("A usage line defines the options and where arguments go")
  func usageLineDefinesOptionsAndArguments() {
    let cases: [(String, options: [String], places: [String])] = [
      ("list", [], ["list"]),
      (
        "add NAME (--text TEXT | --file FILE | -)", ["text TEXT", "file FILE"],
        ["add", "NAME"]
      ),
      ("edit ID [--name NAME] [--force]", ["name NAME", "force"], ["edit", "ID"]),
      ("sync [on|off]", [], ["sync", "on|off"]),
      ("resolve ID --use mine|theirs|merged", ["use mine|theirs|merged"], ["resolve", "ID"]),
      ("add [TEXT | --text TEXT]", ["text TEXT"], ["add", "TEXT"]),
      ("tag ID --tag TAG... [--quiet] DIR", ["tag TAG ...", "quiet"], ["tag", "ID", "DIR"]),
      ("import DIR|FILE.json", [], ["import", "DIR|FILE.json"]),
    ]
    for (text, options, places) in cases {
      let line = UsageLine(text)
      let found = line.options.map { option in
        ([option.name] + [option.value?.text].compactMap(\.self)
          + (option.isRepeated ? ["..."] : []))
          .joined(separator: " ")
      }
      #expect(found == options && line.positionals.map(\.text) == places, "\(text)")
    }
    let place = UsageLine.Placeholder("mine|theirs|FILE.json|ID")
    #expect(place.choices == ["mine", "theirs"] && place.names == ["FILE.json", "ID"])
  }

  @Test("The options of several usage lines are parsed as the lines define them")
  func optionsAreParsedByUsageLines() throws {
    let lines = ["a [--force] --tag TAG...", "b --name NAME", "c --name"].map { UsageLine($0) }
    var arguments = try Arguments(
      ["--tag", "1", "word", "--name", "n", "--tag=2", "--force"], knowing: .init(lines))
    #expect(arguments.values("tag") == ["1", "2"])
    #expect(arguments.value("name") == "n" && arguments.flag("force"))
    #expect(arguments.word() == "word")
    try arguments.end()
  }

  @Test("The nearest word is suggested for a typing error, and none for nonsense")
  func nearestWordIsSuggestedForTypingError() {
    let words = ["tabs", "clipboard", "results", "ideas", "annotations"]
    let cases: [(String, String?)] = [
      ("tabz", "tabs"), ("tasb", "tabs"), ("clip", "clipboard"), ("clipbord", "clipboard"),
      ("Idea", "ideas"), ("anotation", "annotations"), ("x", nil), ("fly", nil), ("", nil),
      ("\u{1B}[31m", nil),
    ]
    for (text, word) in cases { #expect(nearest(to: text, of: words) == word, "\(text)") }
    #expect(editDistance("kitten", "sitting") == 3 && editDistance("ab", "ba") == 1)
    #expect(editDistance("", "abc") == 3 && editDistance("é", "e\u{301}") == 0)
  }
}
