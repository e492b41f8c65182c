import Testing

@Suite("The scanner that the rules stand on")
struct SwiftScannerTests {
  /// Source, and its tokens with `·` between them.
  static let samples: [(source: String, tokens: String)] = [
    ("a.b(c)", "a·.·b·(·c·)"),
    ("a // b\nc", "a·c"),
    ("a /* b /* c */ d */ e", "a·e"),
    ("a /* b", "a"),
    ("\"a // b\" c", "\"a // b\"·c"),
    ("\"a \\\" b\" c", "\"a \\\" b\"·c"),
    ("\"\\(a + \"b)\")c\" d", "\"\\(a + \"b)\")c\"·(·a·+·\"b)\"·)·d"),
    ("#\"a\\(b)\"c\"# d", "#\"a\\(b)\"c\"#·d"),
    ("\"\"\"\na \"b\" {\n\"\"\" d", "\"\"\"\na \"b\" {\n\"\"\"·d"),
    ("\"never closed\nb", "\"never closed·b"),
    ("`default` a", "`default`·a"),
    ("#if os(a)", "#·if·os·(·a·)"),
    ("f(/[)\"]/, a / b / c)", "f·(·/regex/·,·a·/·b·/·c·)"),
    ("f(#/a/\"/#)", "f·(·/regex/·)"),
    ("élan", "élan"),
    ("", ""),
  ]

  @Test("Source is split into tokens", arguments: samples)
  func sourceIsSplitIntoTokens(_ sample: (source: String, tokens: String)) {
    let tokens = SwiftScanner(sample.source).tokens
    #expect(tokens.map(\.text).joined(separator: "·") == sample.tokens)
  }

  @Test("Lines, comments and the insides of multi-line strings are known by line")
  func linesAndComments() {
    let scanner = SwiftScanner("/// a\nlet b = \"\"\"\n  c\n  \"\"\" // d\n/* e\nf */ let g = 1")
    #expect(scanner.tokens.map(\.line) == [2, 2, 2, 2, 6, 6, 6, 6])
    #expect(scanner.literalLines == [3, 4])
    #expect(scanner.comments == [1: "/// a", 4: "// d", 5: "/* e", 6: "f */"])
    #expect(scanner.commentKinds == [1: .documentation, 4: .plain, 5: .plain, 6: .plain])
  }

  @Test("The manifest is read with its helper functions and with SwiftPM's own calls")
  func manifestIsReadWithHelpers() {
    let file = SourceFile(
      path: "Package.swift",
      text: """
        func module(_ name: String) -> Target { .target(name: name, path: "Sources/\\(name)") }
        module("A")
        module("B", ["A", .target(name: "C", condition: .when(platforms: [.linux]))])
        tool("d", ["A"], path: "Examples/d")
        .testTarget(name: "E", dependencies: ["B"], resources: [.copy("F")])
        """)
    let targets = PackageManifest(file).targets
    #expect(targets.map(\.name) == ["A", "B", "d", "E"])
    #expect(targets.map(\.dependencies) == [[], ["A", "C"], ["A"], ["B"]])
    #expect(
      targets.map(\.path) == ["Sources/A", "Sources/B", "Examples/d", "Tests/E"])
  }
}
