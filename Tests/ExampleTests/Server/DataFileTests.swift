import Foundation
import Testing
import VerificationSupport

/// What a server says about the permissions of its file at the start.
@Suite("cloudsync serve with a file of unusual permissions", .timeLimit(.minutes(20)))
struct DataFileTests {
  private let tool: ServerTool
  private let folder: String
  private let path: String

  init() throws {
    tool = try ServerTool()
    folder = tool.path("data")
    path = folder + "/cloud.sqlite"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }

  private func set(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// The messages of a server of this file, from its start to its end.
  private func messages() async throws -> [String] {
    var process = try tool.process(["serve", "--json", "--data", path], [:])
    if geteuid() == 0 {
      // Without these capabilities the administrator may not write every file.
      guard let setpriv = InstalledProgram.find("setpriv") else { return [] }
      process.arguments =
        ["--bounding-set=-dac_override,-dac_read_search", process.program.path]
        + process.arguments
      process.program = setpriv
    }
    let serve = try RunningTool(process)
    _ = try await serve.output.line { $0.contains("\"ready\":true") }
    serve.send(SIGTERM)
    var lines: [String] = []
    while lines.last != "cloudsync: stopped" {
      lines.append(try await serve.errors.line { _ in true })
    }
    #expect(await serve.exitCode() == 0)
    return lines.filter { !$0.hasPrefix("cloudsync: stop") }
  }

  @Test("A server that can't write its file or the folder of the file names the one that it can't")
  func unwritablePlacesAreNamed() async throws {
    if geteuid() == 0, InstalledProgram.find("setpriv") == nil { return }
    #expect(try await messages() == [])
    #expect(try await messages() == [], "of a file that was there")
    let consequence = " may not be written, so the server refuses all changes."
    try set(0o500, folder)
    defer { try? set(0o700, folder) }
    let ofFolder = try await messages()
    #expect(ofFolder.count == 1 && ofFolder[0].hasSuffix("/data" + consequence), "\(ofFolder)")
    #expect(ofFolder.first?.hasPrefix("cloudsync: the folder ") == true, "\(ofFolder)")
    try set(0o700, folder)
    try set(0o400, path)
    #expect(try await messages() == ["cloudsync: \(path)" + consequence])
  }

  @Test("A server says once that its file is gone, and once that it stores changes again")
  func missingFileIsReportedOnce() async throws {
    let cloud = try await tool.serve("--data", path)
    #expect(try await cloud.save("n1") == 200)
    let elsewhere = folder + "/elsewhere"
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    for _ in 0..<3 { #expect(try await cloud.save("n2") == 503) }
    try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
    #expect(try await cloud.save("n2") == 200)
    #expect(try await cloud.save("n3") == 200)
    #expect(await cloud.stop() == 0)
    var lines: [String] = []
    while lines.last != "cloudsync: stopped" {
      lines.append(try await cloud.tool.errors.line { _ in true })
    }
    try #require(lines.count == 4, "\(lines)")
    #expect(lines[0].hasPrefix("cloudsync: the storage fails: \(path) was moved"), "\(lines)")
    #expect(lines[1] == "cloudsync: the storage works again", "\(lines)")
  }

  @Test("A server says if other users may read its file, which has the secret of all tokens")
  func readableFileIsReported() async throws {
    let first = try await tool.serve("--data", path)
    #expect(await first.stop() == 0)
    for mode in [0o644, 0o640, 0o602] {
      try set(mode, path)
      let cloud = try await tool.serve("--data", path)
      let line = try await cloud.tool.errors.line { _ in true }
      #expect(line.contains("has the mode \(String(mode, radix: 8)), so other users"), "\(line)")
      #expect(await cloud.stop() == 0)
    }
    try set(0o600, path)
    let cloud = try await tool.serve("--data", path)
    cloud.tool.send(SIGTERM)
    let line = try await cloud.tool.errors.line { _ in true }
    #expect(line.hasPrefix("cloudsync: stopping"), "\(line)")
    #expect(await cloud.tool.exitCode() == 0)
  }
}
