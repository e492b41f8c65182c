import Foundation
import Testing
import VerificationSupport

private let repository = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

// The lists are those of the Linux build. That of Apple's platforms lacks the extensions of
// Foundation's classes, which have these members there.
#if !canImport(Darwin)
  /// The public symbols of the products, against the lists in Docs/PublicSymbols.
  @Suite("Every public symbol is in its module's list")
  struct PublicSymbolTests {
    static var modules: [String] {
      [
        "CloudMachine", "CloudProtocol", "CloudSync", "CloudSyncTesting", "LoopbackHTTP",
        "LoopbackServer", "Records", "SyncedStore", "DurableFiles", "CloudKit",
      ]
    }

    /// `CLOUDSYNC_RECORD=1 swift test --filter PublicSymbolTests` writes the lists.
    @Test(arguments: modules)
    func symbolsAreListed(module: String) async throws {
      let symbols = try await ModuleInterface(of: module).declarations
      try #require(!symbols.isEmpty)
      let list = repository.appending(path: "Docs/PublicSymbols/\(module).txt")
      if ProcessInfo.processInfo.environment["CLOUDSYNC_RECORD"] == "1" {
        try Data((symbols.joined(separator: "\n") + "\n").utf8).write(to: list, options: .atomic)
      }
      let text = try String(contentsOf: list, encoding: .utf8)
      let listed = text.split(separator: "\n").map(String.init)
      #expect(
        listed == symbols,
        """
        not listed: \(Set(symbols).subtracting(listed).sorted()); \
        not in the module: \(Set(listed).subtracting(symbols).sorted())
        """)
    }
  }

  /// The public declarations of a built module, as the toolchain's symbol graph tool reports them.
  private struct ModuleInterface {
    /// One line for each symbol, in order: its path, then its declaration.
    let declarations: [String]

    private struct Graph: Decodable {
      struct Symbol: Decodable {
        struct Fragment: Decodable { var spelling: String }

        var pathComponents: [String]
        var declarationFragments: [Fragment]?
      }

      var symbols: [Symbol]
    }

    init(of module: String) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "symbols-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let script = """
        tool="$(dirname "$(readlink -f "$(command -v swift)")")/swift-symbolgraph-extract"
        target=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\\([^"]*\\)".*/\\1/p' | head -1)
        exec "$tool" -module-name \(module) -I "$MODULES" -I Sources/CSQLite -I Sources/CEpoll \
          -target "$target" -minimum-access-level public -skip-synthesized-members \
          -output-dir "$OUTPUT"
        """
      var process = ToolProcess(
        program: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", script])
      process.folder = repository
      process.environment["MODULES"] = try Self.modulesFolder().path
      process.environment["OUTPUT"] = folder.path
      let status = try await process.start().exitCode()
      try #require(status == 0, "swift-symbolgraph-extract failed for \(module)")

      var found: Set<String> = []
      for file in try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
      {
        let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
        for symbol in graph.symbols {
          let declaration = (symbol.declarationFragments ?? []).map(\.spelling).joined()
          let path = symbol.pathComponents.joined(separator: ".")
          let line = declaration.split(whereSeparator: \.isNewline).joined(separator: " ")
          found.insert("\(path): \(line)")
        }
      }
      declarations = found.sorted()
    }

    /// The folder of the modules, which lies beside the program of the tests.
    private static func modulesFolder() throws -> URL {
      var folder = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
      for _ in 0..<6 {
        folder.deleteLastPathComponent()
        let modules = folder.appending(path: "Modules")
        if FileManager.default.fileExists(atPath: modules.path) { return modules }
      }
      throw CocoaError(.fileNoSuchFile)
    }
  }
#endif
