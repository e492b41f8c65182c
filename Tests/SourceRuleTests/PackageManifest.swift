/// The targets of `Package.swift`, as far as the rules need them.
struct PackageManifest {
  /// One target.
  struct Target: Equatable {
    var name: String
    /// The folder of its sources.
    var path: String
    var dependencies: [String]
    var isTest: Bool
    /// Whether it is a program, which tests may need to be built without importing it.
    var isTool: Bool
    /// The line it is declared on.
    var line: Int
  }

  private(set) var targets: [Target] = []

  /// Reads the calls of the manifest's own helpers and of SwiftPM's target functions.
  init(_ file: SourceFile?) {
    guard let file else { return }
    let calls: [String: (folder: String, isTest: Bool)] = [
      "module": ("Sources", false), "tool": ("Sources", false), "store": ("Examples", false),
      "support": ("Tests/Support", false), "verification": ("Tests/Verification", false),
      "tests": ("Tests", true), "target": ("Sources", false), "testTarget": ("Tests", true),
      "executableTarget": ("Sources", false), "systemLibrary": ("Sources", false),
    ]
    var index = -1
    while index + 1 < file.tokens.count {
      index += 1
      guard let call = calls[file.tokens[index].text], index + 2 < file.tokens.count,
        file.tokens[index + 1].text == "(", let close = file.closing(of: index + 1)
      else { continue }
      let arguments = PackageManifest.arguments(of: file.tokens[(index + 2)..<close])
      guard let name = arguments[.name]?.first else { continue }
      targets.append(
        Target(
          name: name, path: arguments[.path]?.first ?? "\(call.folder)/\(name)",
          dependencies: arguments[.dependencies] ?? [], isTest: call.isTest,
          isTool: ["tool", "executableTarget"].contains(file.tokens[index].text),
          line: file.tokens[index].line))
      // What stands inside the call is a dependency, not a target of its own.
      index = close
    }
  }

  private enum Argument { case name, dependencies, path, other }

  /// The literals of a call by argument; the first two may go without a label.
  private static func arguments(of tokens: ArraySlice<Token>) -> [Argument: [String]] {
    var found: [Argument: [String]] = [:]
    var argument = Argument.name
    var position = 0
    var depth = 0
    for index in tokens.indices {
      let token = tokens[index]
      let isLabel = index + 1 < tokens.endIndex && tokens[index + 1].text == ":"
      switch token.text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "," where depth == 0:
        position += 1
        argument = position == 1 ? .dependencies : .other
      case "name" where depth == 0 && isLabel: argument = .name
      case "dependencies" where depth == 0 && isLabel: argument = .dependencies
      case "path" where depth == 0 && isLabel: argument = .path
      case _ where depth == 0 && isLabel: argument = .other
      default: if let text = token.literal { found[argument, default: []].append(text) }
      }
    }
    return found
  }
}
