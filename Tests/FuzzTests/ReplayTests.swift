import Foundation
import Testing

@Suite("Fuzzing: corpora")
struct ReplayTests {
  private static let corpora = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Corpora")

  /// The inputs of one corpus by their names.
  private static func files(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = corpora.appending(path: target.name)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
  }

  /// Proves I23.
  @Test("Every input of every corpus, whole and truncated, keeps the rules")
  func corpusInputsKeepFuzzRules() throws {
    for target in FuzzTarget.all {
      let files = try Self.files(target)
      if files.count < 12 { Issue.record("\(target.name): only \(files.count) inputs") }
      for (name, bytes) in files {
        for length in [bytes.count, bytes.count / 2, max(0, bytes.count - 1)] {
          do {
            // The planted bugs are left for the fuzzer to find.
            try target.run(FuzzInput(Array(bytes.prefix(length))), true)
          } catch {
            Issue.record("\(target.name)/\(name), \(length) bytes: \(error)")
          }
        }
      }
    }
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
      .filter { !$0.contains(".") }
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }
}
