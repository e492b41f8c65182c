import Foundation
import Testing
import VerificationSupport

@Suite("cloudsync: where its output goes")
struct ToolOutputTests {
  /// A server's file with a record.
  private func file(of tool: ServerTool) async throws -> String {
    let path = tool.path("cloud.sqlite")
    let cloud = try await tool.serve("--data", path)
    try await cloud.save("a")
    #expect(await cloud.stop() == 0)
    return path
  }

  @Test("Output that can't be written is an error")
  func unwritableOutputFails() async throws {
    let tool = try ServerTool()
    let path = try await file(of: tool)
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    for words in [["export", "--data", path], ["inspect", "--data", path], ["help"]] {
      let run = try await tool.run(words, output: full)
      #expect(
        run.code == 73 && run.errors.contains("cannot write to standard output"),
        "\(words): \(run.code) \(run.errors)")
      let program = try BuiltTool.program("cloudsync")
      var process = try tool.process(["-c", "exec \"$0\" \"$@\" >&-", program.path] + words, [:])
      process.program = URL(fileURLWithPath: "/bin/sh")
      #expect(try await process.start().exitCode() == 73, "\(words) without standard output")
    }
  }

  @Test("An archive goes into a pipe, a device, and the target of a link, which all stay")
  func specialFilesStay() async throws {
    let tool = try ServerTool()
    let path = try await file(of: tool)
    let archive = try await tool.good("export", "--data", path)
    let target = tool.path("target")
    try Data().write(to: URL(fileURLWithPath: target))
    let link = tool.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
    try await tool.good("export", "--data", path, "--output", link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == archive)

    let pipe = tool.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    // Open for both, so that neither end waits for the other; the archive fits into the pipe.
    let reader = open(pipe, O_RDWR)
    defer { close(reader) }
    try await tool.good("export", "--data", path, "--output", pipe)
    var buffer = [UInt8](repeating: 0, count: archive.utf8.count)
    #expect(read(reader, &buffer, buffer.count) == buffer.count)
    #expect(String(decoding: buffer, as: UTF8.self) == archive)

    let full = try await tool.run(["export", "--data", path, "--output", "/dev/full"])
    #expect(full.code == 73, "\(full.errors)")
    var status = stat()
    #expect(stat("/dev/full", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test("A server that could not write its archive at the end does not start")
  func unwritableArchiveIsRefusedAtStart() async throws {
    let tool = try ServerTool()
    for detached in [[], ["--detach"]] {
      let run = try await tool.run(
        ["serve", "--export-on-exit", tool.path("missing/archive")] + detached)
      #expect(run.code == 73 && run.errors.contains("cannot write"), "\(run.errors)")
    }
  }

  @Test("With one archive for the start and the end a server goes on where it stopped")
  func archiveAtBothEndsContinuesServer() async throws {
    let tool = try ServerTool()
    let path = tool.path("archive")
    let options = ["--import", path, "--export-on-exit", path]
    let first = try await tool.serve(options + ["--account", "ada", "--account", "default"])
    try await first.save("a", account: "ada")
    #expect(await first.stop() == 0)
    let archive = try String(contentsOfFile: path, encoding: .utf8)
    // The accounts of the archive get tokens, and no other is created.
    let second = try await tool.serve(options)
    #expect(second.webAuthTokens.keys.sorted() == ["ada", "default"])
    #expect(await second.stop() == 0)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == archive)
    let other = try await tool.run(["serve", "--import", tool.path("missing")])
    #expect(other.code == 66, "\(other.errors)")
  }

  @Test("A server whose accounts have no data takes an archive")
  func freshServerTakesArchive() async throws {
    let tool = try ServerTool()
    let path = try await file(of: tool)
    let archive = try await tool.good("export", "--data", path)
    let cloud = try await tool.serve("--account", "new")
    let imported = try await tool.good(
      "import", "-", environment: cloud.environment, input: archive)
    #expect(imported == "imported; the server holds 1 account and 1 database\n")
    #expect(try await tool.good("export", environment: cloud.environment) == archive)
    #expect(await cloud.stop() == 0)
  }

  @Test("Limits and quotas that were changed are listed with the faults")
  func changedLimitsAreListed() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--fault-control")
    let there = cloud.environment
    #expect(try await tool.good("faults", environment: there) == "no faults\n")
    try await tool.good("faults", "add", "limits", "itemsPerRequest=50", environment: there)
    try await tool.good(
      "faults", "add", "quota", "account=default", "bytes=1000", environment: there)
    let listed = try await tool.good("faults", environment: there)
    #expect(
      listed == """
        no faults
        limit itemsPerRequest is 50
        quota of default is 1000 bytes

        """)
    try await tool.good("faults", "clear", environment: there)
    #expect(try await tool.good("faults", environment: there) == "no faults\n")
    #expect(await cloud.stop() == 0)
  }

  @Test("The exit code tells a wrong command line from a wrong or missing file")
  func exitCodesFollowTable() async throws {
    let tool = try ServerTool()
    let path = tool.path("text")
    try Data("no key".utf8).write(to: URL(fileURLWithPath: path))
    let cloud = try await tool.serve("--fault-control")
    let missing = tool.path("missing")
    let cases: [([String], CInt, String)] = [
      (["serve", "--config", missing], 66, "there is no file"),
      (["serve", "--fault-control", "--faults", missing], 66, "there is no file"),
      (["faults", "apply", missing], 66, "there is no file"),
      (["serve", "--account", ""], 64, "--account needs a name"),
      (["faults", "add", "dealy"], 64, "did you mean delay"),
      (["faults", "add", "fail", "code=zoneBsy"], 64, "must be a code's name"),
      (["inspect", "requests", "--after", "xx"], 64, "after"),
      (["keys", "add", path], 65, "not a public key"),
      (["inspect", "--server", "127.0.0.1:8400"], 64, "it must start with http://"),
    ]
    for (words, code, text) in cases {
      let run = try await tool.run(words, environment: cloud.environment)
      #expect(
        run.code == code && run.errors.contains(text), "\(words): \(run.code) \(run.errors)")
    }
    #expect(await cloud.stop() == 0)
  }
}
