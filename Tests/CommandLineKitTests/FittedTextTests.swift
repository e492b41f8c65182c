import CommandLineKit
import Testing

@Suite("Help that fits its terminal")
struct FittedTextTests {
  private static let text = """
    Usage: stores tabs VERB

    Scratch tabs of an editor; the newer
    edit of a tab wins.

      add NAME (--text TEXT | --file FILE | -)
                    open a tab; - reads standard input
      list          all tabs
      import DIR    open a tab for each text file of a folder;
                    again: take over changes

        stores sync
    The end.

    """

  @Test("A text that fits stays unchanged, byte for byte")
  func fittingTextStaysUnchanged() {
    #expect(FittedText.lines(Self.text, width: 80) == Self.text)
  }

  @Test("Descriptions wrap beside the term they describe, or below it where space is short")
  func descriptionsWrapBesideOrBelowTheirTerm() {
    #expect(
      FittedText.lines(Self.text, width: 50) == """
        Usage: stores tabs VERB

        Scratch tabs of an editor; the newer
        edit of a tab wins.

          add NAME (--text TEXT | --file FILE | -)
                        open a tab; - reads standard input
          list          all tabs
          import DIR    open a tab for each text file of a
                        folder; again: take over changes

            stores sync
        The end.

        """)
    #expect(
      FittedText.lines(Self.text, width: 30) == """
        Usage: stores tabs VERB

        Scratch tabs of an editor; the
        newer edit of a tab wins.

          add NAME (--text TEXT |
              --file FILE | -)
              open a tab; - reads
              standard input
          list          all tabs
          import DIR
              open a tab for each text
              file of a folder; again:
              take over changes

            stores sync
        The end.

        """)
  }
}
