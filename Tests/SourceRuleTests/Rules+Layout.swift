/// The modules of a Swift toolchain; no other module from outside the package may be imported.
private let toolchainModules: Set<String> = [
  "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch", "Synchronization",
  "Observation", "Testing", "XCTest", "Glibc", "Musl", "Darwin", "Android", "WinSDK", "CloudKit",
  "CoreLocation", "PackageDescription", "os", "ObjectiveC",
]

/// The page with the table of modules.
private let architecturePath = "Docs/Architecture.md"

/// The page with the table of folders.
private let contributingPath = "CONTRIBUTING.md"

extension SourceRule {
  static let layoutRules: [SourceRule] = [
    SourceRule(
      name: "A target with tests of PostgreSQL is one that `make cluster-test` builds",
      check: { $0.clusterTestFaults() },
      broken: [
        (
          [
            "Package.swift": "let clusterTests = [\"ATests\"]\nlet others = [\"BTests\"]",
            "Tests/BTests/B.swift": "#if PostgreSQL\n#endif",
          ],
          ["Tests/BTests/B.swift"]
        ),
        (
          ["Package.swift": "let tests = 1", "Tests/BTests/B.swift": "#if PostgreSQL\n#endif"],
          ["Package.swift"]
        ),
      ],
      kept: [
        [
          "Package.swift": "let clusterTests = [\"ATests\"]",
          "Tests/ATests/Server/A.swift": "#if PostgreSQL\n#endif",
          "Tests/BTests/B.swift": "// #if PostgreSQL",
          "Tests/Verification/Soak/C.swift": "#if PostgreSQL\n#endif",
        ]
      ]),

    SourceRule(
      name: "A module imports only what the table of modules allows, always from a lower layer",
      check: { $0.moduleFaults() },
      broken: [
        (
          manifest("module(\"A\")\nmodule(\"B\", [\"A\"])", "| 0 | `A` | – |\n| 1 | `B` | – |"),
          ["Package.swift:2"]
        ),
        (
          manifest("module(\"A\")\nmodule(\"B\", [\"A\"])", "| 1 | `A` | – |\n| 1 | `B` | A |"),
          ["Docs/Architecture.md"]
        ),
        (manifest("module(\"A\")\nmodule(\"B\")", "| 0 | `A` | – |"), ["Package.swift:2"]),
        (manifest("module(\"A\")", "| 0 | `A` | – |\n| 1 | `B` | A |"), ["Docs/Architecture.md"]),
        (manifest("module(\"A\")", "| 0 | `A` | C |"), ["Docs/Architecture.md"]),
        (
          manifest("module(\"A\")", "| 0 | `A` | – |\n| 0 | `A` | – |"), ["Docs/Architecture.md"]
        ),
      ],
      kept: [
        manifest(
          """
          func module(_ name: String) {}
          module("A")
          module("B", ["A"])
          tests("T", ["B"])
          """,
          "| 0 | `A` | – |\n| 1 | `B` | anything below |")
      ]),

    SourceRule(
      name: "A file imports what its target declares and what ships with the toolchain, no less, "
        + "no more",
      check: { $0.importFaults() + $0.declarationFaults() },
      broken: [
        (
          [
            "Package.swift": "module(\"A\")\nmodule(\"B\")",
            "Sources/B/B.swift": "let b = 1\nimport A",
          ],
          ["Sources/B/B.swift:2"]
        ),
        (
          ["Package.swift": "module(\"A\")", "Sources/A/A.swift": "public import NIOCore"],
          ["Sources/A/A.swift:1"]
        ),
        (
          [
            "Package.swift": "module(\"A\")\nmodule(\"B\", [\"A\"])",
            "Sources/B/B.swift": "let b = 1",
          ],
          ["Package.swift:2"]
        ),
      ],
      kept: [
        [
          "Package.swift": "module(\"A\")\nmodule(\"B\", [\"A\"])",
          "Sources/B/B.swift": "package import A\nimport Foundation\n// import C",
        ],
        [
          "Package.swift": "tool(\"c\")\ntests(\"T\", [\"c\"])", "Tests/T/T.swift": "let t = 1",
        ],
      ]),

    SourceRule(
      name: "The package depends on no other package",
      check: { $0.packageDependencyFaults() },
      broken: [
        fault(
          "dependencies: [\n.package(url: \"a\", from: \"1.0.0\")]", at: 2, in: "Package.swift"),
        (
          ["Package.swift": "", "Examples/A/Package.swift": "let a = 1"],
          ["Examples/A/Package.swift"]
        ),
      ],
      kept: [["Package.swift": "// .package(url:)\nlet package = Package(name: \"a\")"]]),

    SourceRule(
      name: "Every target has a folder with content, and every folder is a target",
      check: { $0.folderFaults() },
      broken: [
        (["Package.swift": "module(\"A\")"], ["Sources/A"]),
        (["Package.swift": "module(\"A\")", "Sources/A/A.swift": "// soon\n\n"], ["Sources/A"]),
        (["Package.swift": "", "Tests/ATests/A.swift": "let a = 1"], ["Tests/ATests"]),
      ],
      kept: [
        [
          "Package.swift": "module(\"A\")\nstore(\"B\", [])\ntool(\"c\", [], path: \"Examples/c\")",
          "Sources/A/A.swift": "let a = 1", "Examples/B/B.swift": "let b = 1",
          "Examples/c/main.swift": "f()", "Examples/README.md": "# Examples",
        ],
        [
          "Package.swift": ".systemLibrary(name: \"C\", pkgConfig: \"c\")",
          "Sources/C/shim.h": "#include <c.h>",
        ],
      ]),

    SourceRule(
      name: "Paths and names of targets differ by more than case, as disks of Macs need it",
      check: { $0.caseFaults() },
      broken: [
        (["Sources/A/A.swift": "", "Sources/a/B.swift": ""], ["Sources/a"]),
        (["Docs/A.md": "", "Docs/a.md": ""], ["Docs/a.md"]),
        (["Package.swift": "module(\"A\")\ntool(\"a\", [], path: \"b\")"], ["Package.swift:2"]),
      ],
      kept: [["Package.swift": "module(\"A\")\ntool(\"b\")", "A/a.swift": "", "B/a.swift": ""]]),

    SourceRule(
      name: "Every folder of Sources has a row in CONTRIBUTING.md, and every row a folder",
      check: { $0.contributingFaults() },
      broken: [
        (
          [
            contributingPath: "| `Sources/A` | a `B` |\n| `Tests/C` | c |",
            "Sources/A/A.swift": "", "Sources/B/B.swift": "",
          ],
          [contributingPath]
        ),
        (
          [contributingPath: "| `Sources/A`, `B` | a |", "Sources/A/A.swift": ""],
          [contributingPath]
        ),
      ],
      kept: [
        [
          contributingPath: "| `Sources/A`, `B` | a |", "Sources/A/A.swift": "",
          "Sources/B/B.swift": "",
        ]
      ]),
  ]

  private static func manifest(_ targets: String, _ rows: String) -> SourceTree {
    ["Package.swift": targets, architecturePath: rows]
  }
}

/// A row of the table of modules in `Docs/Architecture.md`.
private struct Module {
  var layer: Int
  var name: String
  var mayImport: [String]
  var mayImportAnythingBelow: Bool
}

extension SourceTree {
  fileprivate func clusterTestFaults() -> [Fault] {
    guard let manifest = self["Package.swift"] else { return [] }
    guard let start = manifest.occurrences(of: "clusterTests = [").first else {
      let hasTests = files.contains { !$0.occurrences(of: "#if PostgreSQL").isEmpty }
      return hasTests ? [Fault(place: manifest.path, message: "there is no list clusterTests")] : []
    }
    let named = manifest.tokens[start...].prefix { $0.text != "]" }.compactMap(\.literal)
    return files.compactMap { file in
      let folders = file.path.split(separator: "/").map(String.init)
      guard folders.count > 2, folders[0] == "Tests", folders[1].hasSuffix("Tests"),
        !named.contains(folders[1]), !file.occurrences(of: "#if PostgreSQL").isEmpty
      else { return nil }
      return Fault(place: file.path, message: "name \(folders[1]) in clusterTests of Package.swift")
    }
  }

  private var modules: [Module] {
    (self[architecturePath]?.lines ?? []).flatMap { line -> [Module] in
      let cells = line.split(separator: "|").map { $0.trimming() }
      guard line.hasPrefix("|"), cells.count >= 3, let layer = Int(cells[0]) else { return [] }
      let imports = cells[2].split(separator: ",").map { $0.trimming() }
      return cells[1].split(separator: ",").map { name in
        Module(
          layer: layer, name: name.trimming(),
          mayImport: imports.filter { !["–", "", "anything below"].contains($0) },
          mayImportAnythingBelow: imports.contains("anything below"))
      }
    }
  }

  fileprivate func moduleFaults() -> [Fault] {
    let modules = Dictionary(self.modules.map { ($0.name, $0) }) { first, _ in first }
    let targets = PackageManifest(self["Package.swift"]).targets.filter { !$0.isTest }
    var faults: [Fault] = []
    var names: Set<String> = []
    for module in self.modules {
      if !names.insert(module.name).inserted {
        faults.append(Fault(place: architecturePath, message: "\(module.name) has two rows"))
      }
      if !targets.contains(where: { $0.name == module.name }) {
        faults.append(Fault(place: architecturePath, message: "\(module.name) is not a target"))
      }
      for name in module.mayImport where (modules[name]?.layer ?? Int.max) >= module.layer {
        faults.append(
          Fault(place: architecturePath, message: "\(module.name): \(name) is not in a lower layer")
        )
      }
    }
    for target in targets {
      let place = "Package.swift:\(target.line)"
      guard let module = modules[target.name] else {
        faults.append(Fault(place: place, message: "\(target.name) is not in \(architecturePath)"))
        continue
      }
      for name in target.dependencies {
        let isBelow = (modules[name]?.layer ?? Int.max) < module.layer
        guard !(module.mayImportAnythingBelow && isBelow), !module.mayImport.contains(name) else {
          continue
        }
        faults.append(Fault(place: place, message: "\(target.name) may not import \(name)"))
      }
    }
    return faults
  }

  fileprivate func importFaults() -> [Fault] {
    PackageManifest(self["Package.swift"]).targets.flatMap { target -> [Fault] in
      // The module of a tool has underscores for the hyphens of its name.
      let declared = target.dependencies.map { $0.replacing("-", with: "_") }
      return swift(under: target.path).flatMap { file -> [Fault] in
        file.imports.compactMap { module, line -> Fault? in
          guard !toolchainModules.contains(module), !declared.contains(module) else { return nil }
          return file.fault(line, "\(target.name) does not declare the dependency \(module)")
        }
      }
    }
  }

  fileprivate func declarationFaults() -> [Fault] {
    let targets = PackageManifest(self["Package.swift"]).targets
    let tools = targets.filter(\.isTool).map(\.name)
    return targets.flatMap { target -> [Fault] in
      let imported = Set(swift(under: target.path).flatMap { $0.imports.map(\.module) })
      return target.dependencies.compactMap { name in
        guard !imported.contains(name.replacing("-", with: "_")), !tools.contains(name) else {
          return nil
        }
        return Fault(
          place: "Package.swift:\(target.line)",
          message: "\(target.name) declares \(name), which none of its files imports")
      }
    }
  }

  fileprivate func contributingFaults() -> [Fault] {
    let rows = (self[contributingPath]?.lines ?? []).filter { $0.hasPrefix("| `Sources/") }
    let named = rows.flatMap { row -> [String] in
      let cell = row.split(separator: "|")[0]
      return cell.split(separator: ",").map { $0.trimming().replacing("Sources/", with: "") }
    }
    let folders = Set(
      files.compactMap { file -> String? in
        let parts = file.path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
      })
    return folders.symmetricDifference(named).sorted().map {
      Fault(place: contributingPath, message: "the row of Sources/\($0), or its folder, is missing")
    }
  }

  fileprivate func packageDependencyFaults() -> [Fault] {
    let calls = self["Package.swift"].map { $0.faults([".package("], "use the toolchain only") }
    let files = files.filter { file in
      file.name == "Package.swift" && file.folder != ""
    }
    return (calls ?? []) + files.map { Fault(place: $0.path, message: "does not belong here") }
  }

  fileprivate func caseFaults() -> [Fault] {
    var spellings: [String: String] = [:]
    func isSecond(_ name: String) -> Bool {
      let known = spellings[name.lowercased()]
      spellings[name.lowercased()] = known ?? name
      return known ?? name != name
    }
    let paths = files.flatMap { file in
      let parts = file.path.split(separator: "/")
      return parts.indices.map { parts[...$0].joined(separator: "/") }
    }
    let message = "another name differs from it only by case"
    return Set(paths).sorted().filter { isSecond($0) }.map { Fault(place: $0, message: message) }
      + PackageManifest(self["Package.swift"]).targets.filter { isSecond("target " + $0.name) }
      .map { Fault(place: "Package.swift:\($0.line)", message: message) }
  }

  fileprivate func folderFaults() -> [Fault] {
    let targets = PackageManifest(self["Package.swift"]).targets
    let empty = targets.filter { target in
      !files.contains { file in
        file.path.hasPrefix(target.path + "/")
          && (file.isSwift ? !file.tokens.isEmpty : file.name.hasSuffix(".h"))
      }
    }
    let folders = Set(
      files.compactMap { file -> String? in
        let parts = file.path.split(separator: "/")
        guard parts.count > 2, ["Sources", "Examples", "Tests"].contains(parts[0]) else {
          return nil
        }
        let isNested = ["Tests/Support", "Tests/Verification"].contains("\(parts[0])/\(parts[1])")
        return parts.prefix(isNested ? 3 : 2).joined(separator: "/")
      })
    let orphans = folders.subtracting(targets.map(\.path)).sorted()
    return empty.map { Fault(place: $0.path, message: "the target has no content") }
      + orphans.map { Fault(place: $0, message: "the folder is not a target") }
  }
}

extension StringProtocol {
  /// The text without spaces and backticks around it.
  fileprivate func trimming() -> String {
    var text = Substring(self)
    while let first = text.first, first == " " || first == "`" { text.removeFirst() }
    while let last = text.last, last == " " || last == "`" { text.removeLast() }
    return String(text)
  }
}
