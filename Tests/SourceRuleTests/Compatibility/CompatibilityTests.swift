import Foundation
import Testing

@Suite("Docs/Compatibility.md says what is there")
struct CompatibilityTests {
  @Test("Public symbols are found under the names that their users write")
  func publicSymbolsAreFoundAsSpelled() {
    let tree: SourceTree = [
      "Sources/A/A.swift": """
      public final class CKThing: NSObject {
        public init?(coder: NSCoder) {}
        public convenience init(name: String = "a", in zone: Zone<A, B>) {}
        public func save(_ a: A, completionHandler: @escaping (A?, (any Error)?) -> Void) {}
        public subscript<T>(key: String) -> T? { nil }
        func hidden() {}
        public static let `default` = CKThing()
      }
      public class CKThingID {}
      extension CKThing {
        public typealias ID = CKThingID
        public enum Kind: Int { case one = 1, two = 2, three(a: Int, b: Int) }
      }
      extension CKThingID { public var name: String { "" } }
      public protocol CKTold { func tell(_ it: A) }
      """
    ]
    let expected: Set = [
      "CKThing", "CKThing.init(coder:)", "CKThing.init(name:in:)",
      "CKThing.save(_:completionHandler:)", "CKThing.subscript(_:)", "CKThing.default",
      "CKThing.ID", "CKThing.Kind", "CKThing.Kind.one", "CKThing.Kind.two", "CKThing.Kind.three",
      "CKThing.ID.name", "CKTold", "CKTold.tell(_:)",
    ]
    #expect(PublicFace(of: tree.swift()).symbols == expected)
  }

  /// Protocols that exist only to give a class an initialiser, and the class.
  private static let stands = [
    "_CKNotificationMaking": "CKNotification", "_CKFormattable": "NSPredicate",
    "_CKKeySortable": "NSSortDescriptor",
  ]

  /// Members that every class of the kind has, and those that only the compiler calls.
  private static func isTakenForGranted(_ symbol: String) -> Bool {
    let members = [
      "description", "debugDescription", "hash", "isEqual(_:)", "copy(with:)", "encode(with:)",
      "init(coder:)", "supportsSecureCoding", "rawValue", "init(rawValue:)", "hash(into:)",
      "encode(to:)", "init(from:)", "errorDescription", "compare(_:to:)",
      "reversedSortDescriptor", "encodeSystemFields(with:)", "init(_nsError:)", "cancel()",
      "start()", "isAsynchronous", "isExecuting", "isFinished", "qualityOfService",
    ]
    let parts = symbol.split(separator: ".").map(String.init)
    guard parts.count > 1, let last = parts.last else { return stands.values.contains(symbol) }
    return members.contains(last) || ["_", "=", "~"].contains { last.hasPrefix($0) }
  }

  /// Proves X3.
  @Test("Every row of the table is correct, and every public symbol has a row")
  func compatibilityTableCoversPublicSymbols() throws {
    let tree = SourceTree.repository
    let page = try #require(tree["Docs/Compatibility.md"])
    // The error codes of the face are those of `CloudError`.
    let files = tree.swift(under: "Sources/CloudSync") + tree.swift(under: "Sources/CloudProtocol")
    let found = PublicFace(of: files).symbols
      .map { symbol in
        let symbol = symbol.replacing("CloudError.Code.", with: "CKError.Code.")
        let parts = symbol.split(separator: ".", maxSplits: 1).map(String.init)
        return ([Self.stands[parts[0]] ?? parts[0]] + parts.dropFirst()).joined(separator: ".")
      }
    let face = Set(
      found.filter { name in ["CK", "CL", "NS"].contains { name.hasPrefix($0) } })
    var rows: Set<String> = []
    var faults: [String] = []
    for line in page.lines where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingPrefix { $0 == " " } }
      let symbol = String(cells[0].dropFirst().prefix { $0 != "`" })
      let status = cells[1].prefix { $0 != "|" }.split(separator: " ").joined(separator: " ")
      let note = cells.count > 2 ? String(cells[2].prefix { $0 != "|" }) : ""
      if !rows.insert(symbol).inserted { faults.append("\(symbol) has two rows") }
      switch status {
      case "works", "here only", "differs":
        if !face.contains(symbol) { faults.append("\(symbol) is said to be there") }
      case "absent":
        if face.contains(symbol) { faults.append("\(symbol) is said to be absent") }
      default: faults.append("\(symbol) is neither there nor absent: \(status)")
      }
      if ["differs", "absent"].contains(status), note.isEmpty {
        faults.append("\(symbol): say how it differs or why it is absent")
      }
    }
    let missing = face.filter { !rows.contains($0) && !Self.isTakenForGranted($0) }
    faults += missing.sorted().map { "\($0) has no row" }
    #expect(rows.count > 800)
    #expect(faults.isEmpty, "\(faults.sorted().joined(separator: "\n"))")
  }

  @Test("Every addition to CloudKit's API is listed in Docs/FromCloudKit.md")
  func everyAdditionIsListed() throws {
    let tree = SourceTree.repository
    let table = try #require(tree["Docs/Compatibility.md"])
    let guide = try #require(tree["Docs/FromCloudKit.md"])
    let section = try #require(guide.text.firstRange(of: "## Going back"))
    let listed = Set(
      guide.text[section.upperBound...].matches(of: /`([^`]+)`/).flatMap {
        $0.output.1.split { !$0.isLetter }.map(String.init)
      })
    let additions = Set(
      table.lines.filter { $0.hasPrefix("| `") && $0.contains("| here only |") }.map { line in
        String(line.dropFirst(3).prefix { $0 != "`" && $0 != "(" })
      })
    // The members of a type that is an addition need no mention.
    var missing = additions.filter { symbol in
      let names = symbol.split(separator: ".")
      return !additions.contains(names.dropLast().joined(separator: "."))
        && !listed.contains(names.last.map(String.init) ?? symbol)
    }
    let files = tree.swift(under: "Sources/CloudSync") + tree.swift(under: "Sources/CloudKit")
    let types = PublicFace(of: files).symbols.filter { symbol in
      symbol.first?.isUppercase == true && !symbol.contains(".")
        && !["CK", "CL", "NS"].contains { symbol.hasPrefix($0) }
    }
    missing.formUnion(types.filter { !listed.contains($0) })
    let exports = try #require(tree["Sources/CloudSync/Exports.swift"]).lines.filter {
      $0.hasPrefix("@_exported")
    }
    #expect(exports.count > 10)
    missing.formUnion(
      exports.compactMap { $0.split(separator: ".").last.map(String.init) }
        .filter { !listed.contains($0) })
    #expect(missing.isEmpty, "not listed: \(missing.sorted())")
  }
}
