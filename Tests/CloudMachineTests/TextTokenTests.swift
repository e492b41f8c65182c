import Testing

@testable import CloudMachine

struct TextTokenTests {
  @Test("Words are letters and digits, small and without marks; an ideograph is a word of its own")
  func wordsAreSmallAndPlain() {
    for (text, words) in [
      ("", []), (" .", []), ("Ab1 c-d_e", ["ab1", "c", "d", "e"]), ("0z9", ["0z9"]),
      ("\u{E9}t\u{E9} na\u{EF}ve.", ["ete", "naive"]), ("cafe\u{301}s", ["cafes"]),
      ("\u{D8}re", ["ore"]), ("\u{1FD}", ["\u{E6}"]), ("\u{3AC}", ["\u{3B1}"]),
      ("\u{419}\u{43E}\u{434} \u{451}", ["\u{438}\u{43E}\u{434}", "\u{435}"]),
      ("a\u{6F22}\u{5B57}b", ["a", "\u{6F22}", "\u{5B57}", "b"]),
      ("\u{6F22} x", ["\u{6F22}", "x"]),
      ("x\u{663}\u{2014}y", ["x\u{663}", "y"]),
    ] as [(String, [String])] {
      #expect(TextTokens.all(in: text) == words, "\(text)")
    }
  }

  @Test("Words that are searched for are each named once, without those of every text")
  func wantedWordsAreNoStopWords() {
    #expect(TextTokens.wanted(in: "The cat and the CAT, caf\u{E9}") == ["cat", "cafe"])
    #expect(TextTokens.wanted(in: "to be or not") == [])
    #expect(TextTokens.stopWords.count == 33)
  }
}
