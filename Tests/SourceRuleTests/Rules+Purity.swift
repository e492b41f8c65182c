/// The modules that hold values and decisions only.
private let pureModules = ["Records", "CloudProtocol", "SyncMachine", "CloudMachine"]

/// The one file of theirs that may say `async`: the port a transport implements.
private let asyncPort = "Sources/CloudProtocol/CloudTransport.swift"

/// Clocks, randomness, identity and threads, in words.
private let impureWords = [
  "Date(", "UUID(", ".random", "SystemRandomNumberGenerator", "ContinuousClock",
  "SuspendingClock", "Task", "TaskGroup", "AsyncStream", "actor", "await", "DispatchQueue",
  "DispatchTime", "Thread", "FileManager", "ProcessInfo", "print(", "readLine(", "getenv(",
]

extension SourceRule {
  static let purityRules: [SourceRule] = [
    SourceRule(
      "The pure modules know no clock, no I/O, no randomness and no threads",
      files: { tree in
        tree.swift().filter { file in pureModules.contains { file.isIn(module: $0) } }
      },
      broken: impureWords.map { word in
        fault("let a = 1\nlet b = \(word)", at: 2, in: "Sources/SyncMachine/A.swift")
      } + [
        fault("func f() async {}", at: 1, in: "Sources/CloudMachine/A.swift"),
        fault("Int.random(in: 0...1)", at: 1, in: "Sources/Records/B/A.swift"),
      ],
      kept: [
        ["Sources/CloudSync/A.swift": "Task { await f(Date()) }"],
        [
          "Sources/Records/A.swift":
            "// Date( Task async\nlet a = \"async Task\"\nlet b = TaskID(1)"
        ],
        ["Sources/CloudProtocol/CloudTransport.swift": "func send() async throws"],
      ]
    ) { file in
      let words = file.path == asyncPort ? impureWords : impureWords + ["async"]
      return file.faults(words, "give it as an argument, or do it in a driver")
    },

    SourceRule(
      "The pure modules import no Foundation and nothing else from outside the package",
      files: { tree in
        tree.swift().filter { file in pureModules.contains { file.isIn(module: $0) } }
      },
      broken: [
        fault("import Foundation", at: 1, in: "Sources/Records/A.swift"),
        fault("package import Dispatch", at: 1, in: "Sources/Records/A.swift"),
        fault("import struct Foundation.Date", at: 1, in: "Sources/Records/A.swift"),
      ],
      kept: [
        ["Sources/SyncMachine/A.swift": "package import Records\npublic import CloudProtocol"],
        ["Sources/Records/A.swift": "// import Foundation"],
      ]
    ) { file in
      file.imports.filter { !pureModules.contains($0.module) }.map {
        file.fault($0.line, "import of \($0.module): a pure module does not import it")
      }
    },
  ]
}

extension SourceFile {
  /// Whether the file belongs to the target `module` of Sources.
  fileprivate func isIn(module: String) -> Bool { path.hasPrefix("Sources/\(module)/") }

  /// The imports of the file, with their lines.
  var imports: [(module: String, line: Int)] {
    occurrences(of: "import").compactMap { index in
      let kinds = ["struct", "class", "enum", "func", "var", "let", "typealias", "protocol"]
      var next = index + 1
      if next < tokens.count, kinds.contains(tokens[next].text) { next += 1 }
      guard next < tokens.count, isKeyword(at: index) else { return nil }
      return (tokens[next].text, tokens[index].line)
    }
  }
}
