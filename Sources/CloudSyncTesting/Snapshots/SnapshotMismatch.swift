public import Foundation

/// The error for a text that differs from its recorded snapshot.
///
/// Its description is the difference, so a test that throws it, in Swift Testing or in XCTest,
/// shows the changed lines.
public struct SnapshotMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  /// The difference, line by line, and how to record the snapshot again.
  public let description: String
}

extension SnapshotMismatch: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

/// Compares `value` with a snapshot in the source.
///
/// ```swift
/// try assertSnapshot(
///   of: engine.state,
///   matches: """
///     save zone Notes
///     save Notes/shopping
///     """)
/// ```
///
/// With `CLOUDSYNC_RECORD=1` in the environment the literal is rewritten instead; it must be a
/// multi-line literal.
/// - Parameters:
///   - value: the value whose text is compared.
///   - normalization: generated names that are replaced by numbers before the comparison.
///   - expected: the expected text.
///   - filePath: the file of the literal, which is the caller's.
///   - line: the line of the call.
/// - Throws: `SnapshotMismatch` with the difference.
public func assertSnapshot(
  of value: some Snapshotable, normalization: SnapshotNormalization = [.uuids, .users],
  matches expected: String, filePath: String = #filePath, line: Int = #line
) throws {
  let actual = normalization.applied(to: value.snapshotText)
  guard actual != expected else { return }
  if SnapshotRecording.isOn {
    return try InlineSnapshots.shared.rewrite(to: actual, filePath: filePath, line: line)
  }
  throw SnapshotMismatch(
    expected: expected, actual: actual,
    """
    The value differs from the text in the source. Run the test with CLOUDSYNC_RECORD=1 to record \
    it anew.
    """
  )
}

/// Compares `value` with the file `__Snapshots__/name.txt` next to the test's file.
///
/// With `CLOUDSYNC_RECORD=1` in the environment the file is written instead.
/// - Parameters:
///   - value: the value whose text is compared.
///   - normalization: generated names that are replaced by numbers before the comparison.
///   - name: the file's name without its extension, unique in the folder: letters, digits, spaces,
///     dots, hyphens and underscores.
///   - filePath: the file of the test, which is the caller's.
/// - Throws: `SnapshotMismatch` with the difference, or when there is no such file; the error of
///   writing the file.
public func assertSnapshot(
  of value: some Snapshotable, normalization: SnapshotNormalization = [.uuids, .users],
  named name: String, filePath: String = #filePath
) throws {
  let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || " .-_".contains($0) }
  guard isPlain, !name.isEmpty, !name.hasPrefix(".") else {
    throw SnapshotMismatch(
      description: "\"\(name)\" can't be a snapshot's name; use letters, digits and hyphens.")
  }
  let folder = URL(fileURLWithPath: filePath).deletingLastPathComponent()
    .appendingPathComponent("__Snapshots__")
  let file = folder.appendingPathComponent(name + ".txt")
  let actual = normalization.applied(to: value.snapshotText)
  let recorded = try? String(contentsOf: file, encoding: .utf8)
  guard recorded != actual + "\n" else { return }
  if SnapshotRecording.isOn {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try Data((actual + "\n").utf8).write(to: file, options: .atomic)
  }
  guard let recorded else {
    throw SnapshotMismatch(
      description: """
        There is no snapshot __Snapshots__/\(name).txt beside the test. Run the test with \
        CLOUDSYNC_RECORD=1 to record it, look at it, and commit it.
        """)
  }
  throw SnapshotMismatch(
    expected: recorded.hasSuffix("\n") ? String(recorded.dropLast()) : recorded, actual: actual,
    """
    The value differs from __Snapshots__/\(name).txt. Run the test with CLOUDSYNC_RECORD=1 to \
    record it anew.
    """)
}

/// Whether snapshots are recorded instead of compared.
package enum SnapshotRecording {
  /// Overrides the environment variable, for tests of recording.
  @TaskLocal package static var override: Bool?

  static var isOn: Bool {
    override ?? (ProcessInfo.processInfo.environment["CLOUDSYNC_RECORD"] == "1")
  }
}

extension SnapshotMismatch {
  fileprivate init(expected: String, actual: String, _ sentence: String) {
    description = """
      \(sentence)
      - is what was expected, + is what came

      \(LineDifference(expected: expected, actual: actual).text)
      """
  }
}
