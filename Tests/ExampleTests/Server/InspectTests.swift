import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Testing
import VerificationSupport

@Suite("cloudsync: what a server holds, and all of it at once")
struct InspectTests {
  /// A server's file that devices of the `stores` tool filled.
  private func filledFile() async throws -> (tool: StoresTool, path: String) {
    let tool = try StoresTool()
    for name in ["A", "B", "C"] {
      try await tool.good("--device", "phone", "tabs", "add", name, "--text", "text of \(name)")
    }
    try await tool.good("--device", "phone", "tabs", "sync")
    return (tool, tool.home.appendingPathComponent("server.sqlite").path)
  }

  /// Proves S9.
  @Test("A running server and its file show the same contents, as text and as JSON")
  func runningServerAndFileShowSameContents() async throws {
    let (stores, path) = try await filledFile()
    let tool = try ServerTool()
    let cloud = try await tool.serve("--data", path)
    let cases: [([String], [String])] = [
      (["accounts"], ["account", "default"]),
      (["databases"], ["private", "default", "development"]),
      (["zones"], ["zone"]),
      (["subscriptions"], ["subscription"]),
      (["subscriptions", "--scope", "shared"], ["no subscriptions"]),
      (["subscriptions", "--account", "default", "--scope", "public"], ["no subscriptions"]),
      (["records"], ["ScratchTab", "phone", "text of B"]),
      (["records", "--limit", "1"], ["1 of 3 records"]),
      (["records", "--account", "default"], ["text of C"]),
      (["changes"], ["saved", "phone"]),
      (["changes", "--after", "1", "--limit", "all"], ["saved"]),
      (["changes", "--limit", "1"], ["the latest 1;"]),
      (["schema"], ["ScratchTab", " string", "queryable"]),
    ]
    for (subject, words) in cases {
      for form in [[], ["--json"]] {
        let arguments = ["inspect"] + subject + form
        let running = try await tool.run(arguments, environment: cloud.environment)
        let kept = try await tool.run(arguments + ["--data", path])
        #expect(running.code == 0 && kept.code == 0, "\(arguments): \(running.errors)")
        #expect(running.output == kept.output, "\(arguments)")
        guard form.isEmpty else { continue }
        for word in words { #expect(running.output.contains(word), "\(running.output)") }
      }
    }
    #expect(await cloud.stop() == 0)
    withExtendedLifetime(stores) {}
  }

  @Test("Two servers of a process on one file keep its log while other processes read the file")
  func twoServersOfAProcessKeepTheirLocks() async throws {
    let tool = try ServerTool()
    let path = tool.path("cloud.sqlite")
    let first = try LoopbackServer(path: path)
    let second = try LoopbackServer(path: path)
    for account in ["ada", "bob"] {
      try await tool.good("inspect", "accounts", "--data", path)
      #expect(FileManager.default.fileExists(atPath: path + "-wal"), "before \(account)")
      let device = first.device("phone", signedInAs: account)
      _ = try await CKContainer(identifier: "iCloud.test", transport: device).userRecordID()
      #expect(try await tool.good("inspect", "accounts", "--data", path).contains(account))
    }
    withExtendedLifetime((first, second)) {}
  }

  /// A server's file with the records of one account.
  private func file(of tool: ServerTool, recordCount: Int) async throws -> LoopbackServer {
    let server = try LoopbackServer(path: tool.path("cloud.sqlite"))
    let container = CKContainer(
      identifier: "iCloud.test", transport: server.device("phone", signedInAs: "ada"))
    for start in stride(from: 0, to: recordCount, by: 400) {
      let records = (start..<min(start + 400, recordCount)).map { number in
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n\(number)"))
      }
      let saved = try await container.privateCloudDatabase.modifyRecords(
        saving: records, deleting: [])
      #expect(saved.saveResults.count == records.count)
    }
    return server
  }

  @Test("All records are shown, also those behind the largest page that a server sends")
  func recordsBehindTheLargestPageAreShown() async throws {
    let tool = try ServerTool()
    let count = ControlRoutes.longestPage + 1
    try await file(of: tool, recordCount: count).close()
    let words = ["inspect", "records", "--data", tool.path("cloud.sqlite"), "--json", "--limit"]
    for (limit, shown) in [("all", count), ("\(count - 1)", count - 1), ("\(count)", count)] {
      let records = try await tool.run(words + [limit]).json()["records"] as? [Any]
      #expect(records?.count == shown, "--limit \(limit)")
    }
  }

  @Test("A file with a log is shown though no file beside it can grow, as on a full disk")
  func fileWithALogIsShownWithoutSpace() async throws {
    let tool = try ServerTool()
    let server = try await file(of: tool, recordCount: 1)
    // Without the index of the log, as after the end of the machine.
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: tool.path("cloud.sqlite\(end)"), toPath: tool.path("copy.sqlite\(end)"))
    }
    server.close()
    var process = try tool.process([], [:])
    // No file can have more than a block, and a larger one is an error then, not a signal.
    process.arguments = [
      "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", process.program.path, "inspect",
      "records", "--data", tool.path("copy.sqlite"),
    ]
    process.program = URL(fileURLWithPath: "/bin/sh")
    let run = try RunningTool(process)
    _ = try await run.output.line { $0.contains("n0") }
    #expect(await run.exitCode() == 0)
  }

  @Test("A summary, requests and devices are shown, and an ambiguous choice must be named")
  func ambiguousInspectionRequiresName() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--account", "alice", "--account", "bob")
    let none = try await tool.run(["inspect", "records"], environment: cloud.environment)
    #expect(none.code == 67 && none.errors == "cloudsync: the server holds no database yet\n")
    try await cloud.save("n1", account: "alice")
    try await cloud.save("n2", account: "bob")
    let run = try await tool.run(["inspect", "records"], environment: cloud.environment)
    #expect(run.code == 64 && run.output.isEmpty)
    for account in ["alice", "bob"] {
      #expect(
        run.errors.contains("  --container iCloud.test --account \(account)\n"), "\(run.errors)")
    }
    let records = try await tool.good(
      "inspect", "records", "--account", "bob", environment: cloud.environment)
    #expect(records.contains("n2") && !records.contains("n1"), "\(records)")
    let token = try await tool.good("token", "carol", environment: cloud.environment)
    #expect(token.count > 20)
    let accounts = try await tool.good("inspect", "accounts", environment: cloud.environment)
    #expect(accounts.contains("carol"), "\(accounts)")
    let summary = try await tool.good("inspect", environment: cloud.environment)
    for words in ["3 accounts", "2 databases", "2 devices, fault control off"] {
      #expect(summary.contains(words), "\(summary)")
    }
    let requests = try await tool.good("inspect", "requests", environment: cloud.environment)
    #expect(requests.split(separator: "\n").count == 3 && requests.contains("modifyRecords"))
    let other = try await tool.run(
      ["inspect", "records", "--account", "bob", "--zone", "Z"], environment: cloud.environment)
    #expect(other.code == 67 && other.output.isEmpty)
    #expect(
      other.errors.hasPrefix("cloudsync: there is no zone \"Z\"; there are:\n  --zone "),
      "\(other.errors)")
    let unknown = try await tool.run(
      ["inspect", "zones", "--account", "bob", "--container", "iCloud.other"],
      environment: cloud.environment)
    #expect(unknown.code == 67)
    #expect(
      unknown.errors.contains("there are:\n  --container iCloud.test --account alice\n"),
      "\(unknown.errors)")
    #expect(await cloud.stop() == 0)
  }

  /// Proves S9, TH-17.
  @Test("An archive exported from a file, imported in a server and exported again is unchanged")
  func archiveRoundTripKeepsBytes() async throws {
    let (stores, path) = try await filledFile()
    let tool = try ServerTool()
    let archive = try await tool.good("export", "--data", path)
    #expect(!archive.contains("\"secret\""))
    #expect(archive.split(separator: "\n").count > 5)
    let file = tool.path("archive")
    try await tool.good("export", "--data", path, "--output", file)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == archive)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    let cloud = try await tool.serve("--account", "new")
    try await cloud.save("a", account: "new")
    let full = try await tool.run(["import", file], environment: cloud.environment)
    #expect(full.code == 1 && full.errors.contains("into an empty server only"), "\(full.errors)")
    let reset = try await tool.good("reset", "--yes", environment: cloud.environment)
    #expect(reset == "removed everything; the server holds 0 accounts and 0 databases\n")
    let cut = try await tool.run(
      ["import", "-"], environment: cloud.environment, input: String(archive.dropLast(10)))
    #expect(cut.code == 65 && cut.errors.contains("cut short"), "\(cut.errors)")
    let imported = try await tool.good("import", file, environment: cloud.environment)
    #expect(imported == "imported; the server holds 1 account and 1 database\n")
    #expect(try await tool.good("export", environment: cloud.environment) == archive)
    #expect(await cloud.stop() == 0)

    let copy = tool.path("copy.sqlite")
    for broken in [String(archive.dropLast(10)), String(archive.dropFirst(40)), "", "\n\n"] {
      let run = try await tool.run(["import", "-", "--data", copy], input: broken)
      #expect(run.code == 65 && run.output.isEmpty && run.errors.hasPrefix("cloudsync: "))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path) == ["archive"])
    try await tool.good("import", "-", "--data", copy, input: archive)
    #expect(try await tool.good("export", "--data", copy) == archive)
    let copied = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
    #expect(copied == 0o600)
    // Only the first line, with the identity, and the checksum of the lines differ.
    let moved = tool.path("moved.sqlite")
    try await tool.good("import", "-", "--new-identity", "--data", moved, input: archive)
    let next = try await tool.good("export", "--data", moved)
    let second = try await tool.serve("--account", "new")
    try await tool.good(
      "import", "-", "--new-identity", environment: second.environment, input: next)
    let last = try await tool.good("export", environment: second.environment)
    #expect(await second.stop() == 0)
    let lines = [archive, next, last].map { $0.split(separator: "\n") }
    #expect(Set(lines.map { $0[0] }).count == 3)
    #expect(Set(lines.map { $0.dropFirst().dropLast() }).count == 1)
    try await tool.good("reset", "--yes", "--data", copy)
    #expect(try await tool.good("inspect", "accounts", "--data", copy) == "no accounts\n")
    withExtendedLifetime(stores) {}
  }

  @Test("An import that is refused leaves the file that was there, and the server in use, as it is")
  func refusedImportLeavesFile() async throws {
    let (stores, path) = try await filledFile()
    let tool = try ServerTool()
    let archive = try await tool.good("export", "--data", path)
    let cloud = try await tool.serve()
    try await cloud.save("n1")
    for input in [archive, String(archive.dropLast(10)), ""] {
      let run = try await tool.run(
        ["import", "-", "--data", path], environment: cloud.environment, input: input)
      #expect(run.code == 1 && run.errors.contains("into an empty server only"), "\(run.errors)")
      #expect(try await tool.good("export", "--data", path) == archive)
    }
    // A file that is named goes before the server of the environment.
    let reset = try await tool.good(
      "reset", "--yes", "--data", path, environment: cloud.environment)
    #expect(reset == "removed everything; the server holds 0 accounts and 0 databases\n")
    let empty = try await tool.good("export", "--data", path)
    let cut = try await tool.run(
      ["import", "-", "--data", path], environment: cloud.environment,
      input: String(archive.dropLast(10)))
    #expect(cut.code == 65 && cut.errors.contains("Nothing was imported"), "\(cut.errors)")
    #expect(try await tool.good("export", "--data", path) == empty)
    let records = try await tool.good("inspect", "records", environment: cloud.environment)
    #expect(records.contains("n1"))
    #expect(await cloud.stop() == 0)
    withExtendedLifetime(stores) {}
  }

  @Test("An archive of many pieces is imported whole by a file and by a server")
  func longArchiveIsImportedWhole() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve()
    // The tool reads pieces of 256 KiB, so lines lie across their ends.
    let title = String(repeating: "Milk and bread. ", count: 8_000)
    for number in 0..<8 { #expect(try await cloud.save("n\(number)", title: title) == 200) }
    let path = tool.path("archive")
    try await tool.good("export", "--output", path, environment: cloud.environment)
    let archive = try String(contentsOfFile: path, encoding: .utf8)
    #expect(archive.utf8.count > 3 << 18)
    try await tool.good("reset", "--yes", environment: cloud.environment)
    try await tool.good("import", path, environment: cloud.environment)
    #expect(try await tool.good("export", environment: cloud.environment) == archive)
    #expect(await cloud.stop() == 0)
    let file = tool.path("file.sqlite")
    try await tool.good("import", path, "--data", file)
    #expect(try await tool.good("export", "--data", file) == archive)
  }

  /// Proves S5.
  @Test("Faults are added, listed and cleared where the server allows them")
  func faultsAreAddedListedAndCleared() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--fault-control")
    let added = try await tool.good(
      "faults", "add", "fail", "code=zoneBusy", "count=1", "retryAfter=2",
      environment: cloud.environment)
    #expect(added.contains("zoneBusy"), "\(added)")
    #expect(try await cloud.save("n1") != 200)
    #expect(try await tool.good("faults", environment: cloud.environment) == "no faults\n")
    #expect(try await cloud.save("n1") == 200)
    try await tool.good("faults", "add", "delay", "seconds=600", environment: cloud.environment)
    #expect(try await tool.good("faults", "clear", environment: cloud.environment) == "no faults\n")
    let quota = try await tool.good(
      "faults", "add", "quota", "account=default", "bytes=1000", environment: cloud.environment)
    #expect(quota == "done\n")
    let wrong = try await tool.run(["faults", "add", "explode"], environment: cloud.environment)
    #expect(wrong.code == 64 && wrong.errors.contains("; there are fail, "), "\(wrong.errors)")
    #expect(!wrong.errors.contains("clear"), "\(wrong.errors)")
    for verb in ["clear", "remove"] {
      let run = try await tool.run(["faults", "add", verb], environment: cloud.environment)
      #expect(run.code == 64 && run.errors.contains("cloudsync faults \(verb)"), "\(run.errors)")
    }
    #expect(await cloud.stop() == 0)

    let other = try await tool.serve()
    let run = try await tool.run(["faults"], environment: other.environment)
    #expect(run.code == 77 && run.errors.contains("fault control is off"), "\(run.errors)")
    #expect(await other.stop() == 0)
  }
}
