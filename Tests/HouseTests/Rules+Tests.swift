/// The calls that make a test pass without proving anything, or wait for real time.
private let bannedInTests = [
  "XCTSkip", "XCTSkipIf", "XCTSkipUnless", ".disabled(", ".enabled(", "Task.sleep",
  "Thread.sleep", "usleep(", "nanosleep(", "sleep(",
]

extension HouseRule {
  static let testRules: [HouseRule] = [
    HouseRule(
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

    HouseRule(
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
