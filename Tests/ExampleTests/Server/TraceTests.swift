import CloudSync
import Foundation
import LoopbackServer
import Testing

@Suite("cloudsync: what a sync engine took down of itself")
struct TraceTests {
  private final class Silent: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
      let pending = syncEngine.state.pendingRecordZoneChanges(in: context.options.scope)
      return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
        CKRecord(recordType: "Note", recordID: id)
      }
    }
  }

  /// Has an engine save a record and fetch, while a tracer writes into `path`.
  private func trace(into path: String) async throws {
    let delegate = Silent()
    let container = CKContainer(
      identifier: "iCloud.test",
      transport: LoopbackServer().device("phone", signedInAs: "alice"))
    let tracer = try JSONLinesTracer(url: URL(fileURLWithPath: path))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    configuration.tracer = tracer
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingRecordZoneChanges: [
      .saveRecord(CKRecord.ID(recordName: "a secret name"))
    ])
    try await engine.sendChanges()
    try await engine.fetchChanges()
    tracer.close()
    withExtendedLifetime(delegate) {}
  }

  @Test("A trace is shown as a timeline and as JSON, and a truncated line is counted")
  func traceIsShownAsTimelineAndJSON() async throws {
    let tool = try ServerTool()
    let path = tool.path("trace.jsonl")
    try await trace(into: path)
    let text = try await tool.good("trace", path)
    for word in [
      "event willSendChanges", "question nextRecordZoneChangeBatch, 1 save", "→ modifyRecords",
      "← modifyRecords", "event sentRecordZoneChanges", "event didFetchChanges", "┌", "└",
      "0 failed",
    ] {
      #expect(text.contains(word), "\(word) is not in \(text)")
    }
    #expect(!text.contains("secret") && !text.contains("unreadable"), "\(text)")

    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let json = try await tool.run(["trace", path, "--json"]).json()
    #expect((json["entries"] as? [Any])?.count == lines.count)
    #expect((json["summary"] as? [String: Any])?["unreadableLines"] as? Int == 0)

    let cut = lines.dropLast().joined(separator: "\n") + "\n" + lines[lines.count - 1].dropLast(9)
    try cut.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await tool.good("trace", path).contains("1 lines unreadable"))
  }

  @Test("A file that is not a trace is refused")
  func invalidTraceFileIsRefused() async throws {
    let tool = try ServerTool()
    try "a letter\n".write(toFile: tool.path("letter"), atomically: true, encoding: .utf8)
    let cases: [([String], CInt, String)] = [
      ([tool.path("nothing")], 66, "there is no file"),
      ([tool.path("letter")], 65, "is not a trace"),
      ([], 64, "file"),
    ]
    for (arguments, code, words) in cases {
      let run = try await tool.run(["trace"] + arguments)
      #expect(run.code == code && run.output.isEmpty, "\(arguments): \(run)")
      #expect(run.errors.contains(words), "\(run.errors)")
    }
  }
}
