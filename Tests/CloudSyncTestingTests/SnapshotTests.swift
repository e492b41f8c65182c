import CloudSyncTesting
import Foundation
import Testing

@Suite("Snapshots")
struct SnapshotTests {
  /// Proves X1.
  @Test("Snapshots of events, state and server zones are compared with files beside the test")
  func snapshotFilesHoldEventsStateAndZones() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    let desk = try cloud.device("desk") { try Notes($0.folder) }
    try phone.app.write("Bread, milk", as: "shopping", phone.engine)
    try phone.app.write("Call \"Ann\"\n5 o'clock", as: "to do", phone.engine)
    try await phone.sync()
    try await desk.sync()
    try desk.app.write("Bread", as: "shopping", desk.engine)
    try desk.app.write(nil, as: "to do", desk.engine)
    try await desk.sync()
    try phone.app.write("Bread, tea", as: "shopping", phone.engine)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    let state = try #require(phone.savedState)
    try assertSnapshot(of: phone.events, named: "conflict-events")
    try assertSnapshot(of: state, named: "conflict-state")
    try assertSnapshot(of: cloud.contents(), named: "conflict-server")
  }

  @Test("A difference is shown line by line, and long equal parts are shortened")
  func snapshotDifferenceIsShownByLine() throws {
    let lines = (1...9).map { "line \($0)" }
    var other = lines
    other[1] = "another"
    other.append("more")
    let error = #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(
        of: other.joined(separator: "\n"), matches: lines.joined(separator: "\n"),
        filePath: "Tests.swift", line: 7)
    }
    try assertSnapshot(
      of: error?.description ?? "",
      matches: """
        Tests.swift:7: The value differs from the text in the source. Run the test with CLOUDSYNC_RECORD=1 to \
        record it again.
        - is what was expected, + is what came

          line 1
        - line 2
        + another
          line 3
          line 4
          line 5
          ... 1 lines the same
          line 7
          line 8
          line 9
        + more
        """)
  }

  @Test("Texts that look the same and have other bytes differ, and so do their lines")
  func composedLettersDifferFromDecomposedOnes() {
    let texts = ["caf\u{E9}\nmilk", "cafe\u{301}\nmilk"]
    let error = #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(of: texts[0], matches: texts[1])
    }
    #expect(error?.message.contains("\n- ") == true && error?.message.contains("\n+ ") == true)
  }

  @Test("Generated names become numbers, in the order in which they appear")
  func generatedNamesBecomeNumbers() throws {
    let (first, second) = (UUID().uuidString, UUID().uuidString)
    let user = "_" + String(repeating: "a0", count: 16)
    try assertSnapshot(
      of: [second, first, second.lowercased(), user],
      matches: """
        <uuid 1>
        <uuid 2>
        <uuid 1>
        <user 1>
        """)
    #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(of: first, normalization: [], matches: "<uuid 1>")
    }
  }

  /// Proves X1.
  @Test("A missing snapshot file fails and explains how to record it; recording writes it")
  func missingSnapshotFileExplainsRecording() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("snapshots-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("Tests.swift").path
    let missing = #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(of: "a\nb", named: "new", filePath: source)
    }
    #expect(missing?.description.contains("CLOUDSYNC_RECORD=1") == true)
    // An empty variable counts as none.
    try SnapshotRecording.$environment.withValue(["CLOUDSYNC_RECORD": "1", "CI": ""]) {
      try assertSnapshot(of: "a\nb", named: "new", filePath: source)
    }
    try assertSnapshot(of: "a\nb", named: "new", filePath: source)
    let changed = #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(of: "a\nc", named: "new", filePath: source)
    }
    #expect(changed?.description.hasSuffix("  a\n- b\n+ c") == true)
    for name in ["../new", "", ".new"] {
      let refused = #expect(throws: SnapshotMismatch.self) {
        try assertSnapshot(of: "a", named: name, filePath: source)
      }
      #expect(refused?.message.contains("\"\(name)\" can't be a snapshot's name") == true)
    }
  }

  @Test("Two tests of one folder have different files, and one file has one text")
  func snapshotFilesOfTwoTestsAreDifferent() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("snapshots-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("Tests.swift").path
    try SnapshotRecording.$environment.withValue(["CLOUDSYNC_RECORD": "1"]) {
      try assertSnapshot(of: "a", named: "new", function: "first()", filePath: source)
      try assertSnapshot(of: "b", named: "new", function: "second()", filePath: source)
      let twice = #expect(throws: SnapshotMismatch.self) {
        try assertSnapshot(of: "c", named: "new", function: "first()", filePath: source, line: 9)
      }
      #expect(twice?.description.hasPrefix("\(source):9: Two assertions record ") == true)
    }
    try assertSnapshot(of: "a", named: "new", function: "first()", filePath: source)
    try assertSnapshot(of: "b", named: "new", function: "second()", filePath: source)
    let changed = #expect(throws: SnapshotMismatch.self) {
      try assertSnapshot(of: "b", named: "new", function: "first()", filePath: source, line: 5)
    }
    #expect(changed?.filePath == source && changed?.line == 5)
  }

  @Test("Recording fails where CI is set")
  func recordingFailsWhereCIIsSet() throws {
    let environment = ["CLOUDSYNC_RECORD": "1", "CI": "true"]
    SnapshotRecording.$environment.withValue(environment) {
      let error = #expect(throws: SnapshotMismatch.self) {
        try assertSnapshot(of: "a", matches: "b", filePath: "Tests.swift", line: 3)
      }
      #expect(error?.description.hasPrefix("Tests.swift:3: ") == true)
      #expect(throws: SnapshotMismatch.self) {
        try assertSnapshot(of: "a", named: "not-in-ci", filePath: "/nowhere/Tests.swift")
      }
    }
  }

  @Test("Recording rewrites literals in the source, also below literals that grew")
  func recordingRewritesSourceLiterals() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("literals-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    let quotes = "\"\"\""
    let source = """
      try assertSnapshot(
        of: a,
        matches: \(quotes)
          old
          \(quotes))
      try assertSnapshot(of: b, matches: \(quotes)
        \(quotes))
      """
    try Data(source.utf8).write(to: file)
    try SnapshotRecording.$environment.withValue(["CLOUDSYNC_RECORD": "1"]) {
      try assertSnapshot(of: "1\n\n2\\3", matches: "old", filePath: file.path, line: 1)
      try assertSnapshot(of: "4", matches: "", filePath: file.path, line: 6)
      // Another run of the test, which has the text of before.
      try assertSnapshot(of: "4", matches: "", filePath: file.path, line: 6)
      #expect(throws: SnapshotMismatch.self) {
        try assertSnapshot(of: "5", matches: "", filePath: file.path, line: 9)
      }
      #expect(throws: SnapshotMismatch.self, "another run of the same assertion") {
        try assertSnapshot(of: "5", matches: "", filePath: file.path, line: 6)
      }
    }
    let expected = """
      try assertSnapshot(
        of: a,
        matches: \(quotes)
          1

          2\\\\3
          \(quotes))
      try assertSnapshot(of: b, matches: \(quotes)
        4
        \(quotes))
      """
    #expect(try String(contentsOf: file, encoding: .utf8) == expected)
  }

  @Test(
    "Recording keeps tabs and line ends, and escapes what a literal can't contain",
    arguments: ["\n", "\r\n"])
  func recordingKeepsTabsAndLineEnds(_ end: String) throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("tabs-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    let quotes = "\"\"\""
    func source(_ lines: [String]) -> String {
      let call = ["\ttry assertSnapshot(", "\t\tof: a, matches:", "\t\t\t\(quotes)"]
      let rest = ["\t\t\t\(quotes))", "let other = \(quotes)", "  text", "  \(quotes)", ""]
      return (call + lines + rest).joined(separator: end)
    }
    try Data(source(["\t\t\told"]).utf8).write(to: file)
    try SnapshotRecording.$environment.withValue(["CLOUDSYNC_RECORD": "1"]) {
      try assertSnapshot(
        of: "a\r\n\(quotes)\" \"\"\n\n\\", matches: "old", filePath: file.path, line: 1)
    }
    let expected = source([
      "\t\t\ta\\r", "\t\t\t" + String(repeating: "\\\"", count: 4) + " \"\"", "",
      "\t\t\t\\\\",
    ])
    #expect(try Data(contentsOf: file) == Data(expected.utf8))
  }

  @Test("Recording refuses a text that is no literal of several lines, and changes nothing")
  func recordingRefusesOtherTexts() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("texts-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    let quotes = "\"\"\""
    let calls = [
      "try assertSnapshot(of: a, matches: expected)", "try assertSnapshot(of: a, matches: \"x\")",
      "try assertSnapshot(of: a, matches: #\(quotes)\n  x\n  \(quotes)#)",
    ]
    for call in calls {
      let source = call + "\nlet other = \(quotes)\n  text\n  \(quotes)\n"
      try Data(source.utf8).write(to: file)
      SnapshotRecording.$environment.withValue(["CLOUDSYNC_RECORD": "1"]) {
        #expect(throws: SnapshotMismatch.self, "\(call)") {
          try assertSnapshot(of: "new", matches: "old", filePath: file.path, line: 1)
        }
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == source)
    }
  }
}
