public import Foundation
import Synchronization

/// The error for a text that differs from its recorded snapshot.
///
/// Its description is the difference, so a test that throws it, in Swift Testing or in XCTest,
/// shows the changed lines.
public struct SnapshotMismatch: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  /// The difference, line by line, and how to record the snapshot again.
  public let message: String

  /// The file of the assertion.
  public let filePath: String

  /// The line of the assertion.
  public let line: Int

  /// The place of the assertion and the message.
  public var description: String { "\(filePath):\(line): \(message)" }

  /// The text of `description`, for `localizedDescription`.
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
  // As bytes: `==` also takes texts for equal that only look so.
  guard !actual.utf8.elementsEqual(expected.utf8) else { return }
  if try SnapshotRecording.isAllowed(filePath: filePath, line: line) {
    return try InlineSnapshots.shared.rewrite(to: actual, filePath: filePath, line: line)
  }
  throw SnapshotMismatch(
    expected: expected, actual: actual,
    """
    The value differs from the text in the source. Run the test with CLOUDSYNC_RECORD=1 to record \
    it again.
    """, filePath: filePath, line: line)
}

/// Compares `value` with the file `__Snapshots__/File.function.name.txt` next to the test's file.
///
/// With `CLOUDSYNC_RECORD=1` in the environment the file is written instead, except where `CI` is
/// set: there recording is an error.
/// - Parameters:
///   - value: the value whose text is compared.
///   - normalization: generated names that are replaced by numbers before the comparison.
///   - name: the name, unique in the test function: letters, digits, spaces, dots, hyphens and
///     underscores.
///   - function: the test function, which is the caller.
///   - filePath: the file of the test, which is the caller's.
///   - line: the line of the call.
/// - Throws: `SnapshotMismatch` with the difference, or when there is no such file; the error of
///   writing the file.
public func assertSnapshot(
  of value: some Snapshotable, normalization: SnapshotNormalization = [.uuids, .users],
  named name: String, function: String = #function, filePath: String = #filePath,
  line: Int = #line
) throws {
  let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || " .-_".contains($0) }
  guard isPlain, !name.isEmpty, !name.hasPrefix(".") else {
    throw SnapshotMismatch(
      message: "\"\(name)\" can't be a snapshot's name; use letters, digits and hyphens.",
      filePath: filePath, line: line)
  }
  let source = URL(fileURLWithPath: filePath)
  let folder = source.deletingLastPathComponent().appendingPathComponent("__Snapshots__")
  let test = source.deletingPathExtension().lastPathComponent + "." + function.prefix { $0 != "(" }
  let fileName = "\(test).\(name).txt"
  let file = folder.appendingPathComponent(fileName)
  let actual = normalization.applied(to: value.snapshotText)
  let recorded = try? String(contentsOf: file, encoding: .utf8)
  guard recorded?.utf8.elementsEqual((actual + "\n").utf8) != true else { return }
  if try SnapshotRecording.isAllowed(filePath: filePath, line: line) {
    try SnapshotRecording.claim(file, for: actual, filePath: filePath, line: line)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try Data((actual + "\n").utf8).write(to: file, options: .atomic)
  }
  guard let recorded else {
    throw SnapshotMismatch(
      message: """
        There is no snapshot __Snapshots__/\(fileName) beside the test. Run the test with \
        CLOUDSYNC_RECORD=1 to record it, look at it, and commit it.
        """, filePath: filePath, line: line)
  }
  throw SnapshotMismatch(
    expected: recorded.hasSuffix("\n") ? String(recorded.dropLast()) : recorded, actual: actual,
    """
    The value differs from __Snapshots__/\(fileName). Run the test with CLOUDSYNC_RECORD=1 to \
    record it again.
    """, filePath: filePath, line: line)
}

/// Whether snapshots are recorded instead of compared.
package enum SnapshotRecording {
  /// The environment variables; tests of recording have their own, so that they do the same
  /// everywhere.
  @TaskLocal package static var environment = ProcessInfo.processInfo.environment

  static var isOn: Bool { environment["CLOUDSYNC_RECORD"] == "1" }

  private static var isInCI: Bool { environment["CI"].map { !$0.isEmpty } ?? false }

  /// Whether to record; an error where `CI` is set, since the result would not be reviewed.
  static func isAllowed(filePath: String, line: Int) throws -> Bool {
    guard isOn else { return false }
    guard !isInCI else {
      throw SnapshotMismatch(
        message: """
          A snapshot is missing or differs, and snapshots are not recorded where the environment \
          variable CI is set. Record it on another machine, look at it, and commit it.
          """, filePath: filePath, line: line)
    }
    return true
  }

  private static let written = Mutex<[URL: String]>([:])

  /// Refuses a second, different text for a file that this process has recorded.
  static func claim(_ file: URL, for text: String, filePath: String, line: Int) throws {
    let earlier = written.withLock { written in
      defer { if written[file] == nil { written[file] = text } }
      return written[file]
    }
    guard let earlier, !earlier.utf8.elementsEqual(text.utf8) else { return }
    throw SnapshotMismatch(
      expected: earlier, actual: text,
      "Two assertions record \(file.lastPathComponent). Give each its own name.",
      filePath: filePath, line: line)
  }
}

extension SnapshotMismatch {
  fileprivate init(
    expected: String, actual: String, _ sentence: String, filePath: String, line: Int
  ) {
    self.filePath = filePath
    self.line = line
    message = """
      \(sentence)
      - is what was expected, + is what came

      \(LineDifference(expected: expected, actual: actual).text)
      """
  }
}
