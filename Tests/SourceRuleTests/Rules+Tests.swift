/// The calls that make a test pass without proving anything, wait for real time, or keep a thread
/// that other tests need.
private let bannedInTests = [
  "XCTSkip", "XCTSkipIf", "XCTSkipUnless", ".disabled(", ".enabled(", "Task.sleep",
  "Thread.sleep", "usleep(", "nanosleep(", "sleep(", "availableData", "waitUntilExit",
]

extension SourceRule {
  static let testRules: [SourceRule] = [
    SourceRule(
      "The name of a test function has at least three words, for the behavior that it shows",
      files: { $0.swift(under: "Tests") },
      broken: [
        fault("@Test func saves() {}", at: 1, in: "Tests/A/A.swift"),
        fault(
          "@Test(\"A save\", arguments: [1])\nfunc oneSave(_ a: Int) {}", at: 2,
          in: "Tests/A/A.swift"),
      ],
      kept: [
        ["Tests/A/A.swift": "@Test func saveIsSent() {}\nfunc saves() {}"],
        ["Tests/A/A.swift": "// @Test func saves() {}"],
      ]
    ) { file in
      file.occurrences(of: "@Test").compactMap { index in
        let rest = file.tokens[index...]
        guard let keyword = rest.firstIndex(where: { $0.text == "func" }),
          keyword + 1 < file.tokens.count
        else { return nil }
        let name = file.tokens[keyword + 1]
        let words = 1 + name.text.dropFirst().count(where: \.isUppercase)
        guard words < 3 else { return nil }
        return file.fault(name.line, "`\(name.text)` does not state a behavior")
      }
    },

    SourceRule(
      "No test is skipped, disabled or asleep",
      files: { tree in
        let programs = Set(tree.swift(under: verificationFolders).map(\.path))
        return tree.swift(under: "Tests").filter { !programs.contains($0.path) }
      },
      broken: bannedInTests.filter { $0 != "sleep(" }.map { word in
        fault("\n\(word)", at: 2, in: "Tests/A/A.swift")
      } + [fault("sleep(1)", at: 1, in: "Tests/A/A.swift")],
      kept: [
        ["Tests/A/A.swift": "// Task.sleep\nlet a = \".disabled(\"\nclock.sleep(1)\nmay(1)"],
        ["Sources/A/A.swift": "try await Task.sleep(for: a)"],
        ["Tests/Verification/A/A.swift": "Thread.sleep(forTimeInterval: 1)"],
      ]
    ) { file in
      bannedInTests.flatMap { word in
        file.occurrences(of: word).filter { index in
          // A clock of the test's own may sleep: that costs no time.
          word != "sleep(" || index == 0 || ![".", "func"].contains(file.tokens[index - 1].text)
        }.map { index in
          file.fault(file.tokens[index].line, "`\(word)`: run always, and inject the clock")
        }
      }
    },

    SourceRule(
      name: "Every test target holds a test",
      check: { tree in
        PackageManifest(tree["Package.swift"]).targets.filter(\.isTest).compactMap { target in
          let files = tree.swift(under: target.path)
          guard !files.contains(where: { !$0.occurrences(of: "@Test").isEmpty }) else { return nil }
          return Fault(place: target.path, message: "no `@Test` in it")
        }
      },
      broken: [
        (
          ["Package.swift": "tests(\"ATests\", [\"A\"])", "Tests/ATests/A.swift": "// @Test"],
          ["Tests/ATests"]
        )
      ],
      kept: [
        ["Package.swift": "tests(\"ATests\", [])", "Tests/ATests/A.swift": "@Test func a() {}"]
      ]),
  ]
}
