import Testing

@Suite("Rules of the source tree")
struct SourceRuleTests {
  @Test("A rule finds the fault in a small source tree that contains it", arguments: SourceRule.all)
  func ruleFindsFaultInSampleTree(_ rule: SourceRule) {
    #expect(!rule.broken.isEmpty, "no tree shows that \(rule) can fail")
    for sample in rule.broken {
      #expect(rule.check(sample.tree).map(\.place) == sample.places)
    }
    for tree in rule.kept {
      #expect(rule.check(tree).map(\.description) == [])
    }
  }

  /// Proves X11.
  @Test("The repository follows the rule", arguments: SourceRule.all)
  func repositoryKeepsRule(_ rule: SourceRule) {
    let faults = rule.check(.repository)
    guard !faults.isEmpty else { return }
    Issue.record("\(faults.count) faults\n\(faults.map(\.description).joined(separator: "\n"))")
  }

  @Test("The repository was found and read")
  func readsTheRepository() {
    for path in ["Package.swift", "Sources/Records/Record.swift", ".swift-format"] {
      #expect(SourceTree.repository[path]?.lines.isEmpty == false, "\(path) was not read")
    }
  }
}
