import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The file of `--request-log`: its rotation, and a disk without space.
@Suite("The request log of cloudsync serve", .timeLimit(.minutes(20)))
struct RequestLogTests {
  /// A file may have 1,024 bytes at most, and the signal for a longer one is ignored.
  private static let limit = "trap '' XFSZ; ulimit -f 2"

  private let tool: ServerTool
  private let log: String

  init() throws {
    tool = try ServerTool()
    log = tool.path("requests.log")
  }

  /// Sends so many requests, one after the other.
  private func ask(_ cloud: ServedCloud, times: Int) async throws {
    let url = try #require(URL(string: cloud.url + "/healthz"))
    for _ in 0..<times {
      let (_, answer) = try await URLSession.shared.data(from: url)
      #expect((answer as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  /// The number of complete lines of requests.
  private func requests(_ text: String) -> Int {
    text.matches(of: /(?m)^\{"time":"[^"]+","method":"GET","operation":"page",[^\n]*\}\n/).count
  }

  /// Moves the log away, and waits until the server has opened a new one: then all lines before are
  /// written.
  private func rotate(_ cloud: ServedCloud, to path: String) async throws {
    try FileManager.default.moveItem(atPath: log, toPath: path)
    cloud.tool.send(SIGUSR1)
    while !FileManager.default.fileExists(atPath: log) { await Task.yield() }
  }

  @Test("A server opens its log again when it gets SIGUSR1, so that no line of a rotation is lost")
  func signalOpensLogAgain() async throws {
    let cloud = try await tool.serve("--request-log", log)
    try await ask(cloud, times: 3)
    let old = tool.path("requests.log.1")
    try await rotate(cloud, to: old)
    #expect(try requests(text(old)) == 3)
    try await ask(cloud, times: 2)
    #expect(await cloud.stop() == 0)
    #expect(try requests(text(old)) == 3)
    #expect(try requests(text(log)) == 2)
    let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("A log that can't be opened again goes on where it was, and a server without one goes on")
  func failedReopeningKeepsLog() async throws {
    let folder = tool.path("logs")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let cloud = try await tool.serve("--request-log", folder + "/requests.log")
    let moved = tool.path("moved")
    try FileManager.default.moveItem(atPath: folder, toPath: moved)
    cloud.tool.send(SIGUSR1)
    _ = try await cloud.tool.errors.line { $0.contains("cannot write") }
    try await ask(cloud, times: 2)
    #expect(await cloud.stop() == 0)
    #expect(try requests(text(moved + "/requests.log")) == 2)
    let other = try await tool.serve()
    other.tool.send(SIGUSR1)
    try await ask(other, times: 1)
    #expect(await other.stop() == 0)
  }

  @Test("Lines for which there is no space are counted, and a cut line does not run into the next")
  func lostLinesAreCounted() async throws {
    let cloud = try await tool.serve(after: Self.limit, "--request-log", log)
    let old = tool.path("requests.log.1")
    try await ask(cloud, times: 40)
    try await rotate(cloud, to: old)
    let (written, isCut) = (try requests(text(old)), try !text(old).hasSuffix("\n"))
    #expect(written < 40)
    try await ask(cloud, times: 1)
    #expect(await cloud.stop() == 0)
    let lines = try text(log).split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[0].hasSuffix(",\"lostLines\":\(40 - written)}"), "\(lines)")
    #expect(try requests(text(log)) == 1)

    // A log that ends with a part of a line is continued on a line of its own.
    let again = try await tool.serve("--request-log", old)
    try await ask(again, times: 1)
    #expect(await again.stop() == 0)
    #expect(try requests(text(old)) == written + 1)
    let continued = try text(old).split(separator: "\n")
    #expect(continued.count == written + (isCut ? 2 : 1), "\(continued)")
  }

  @Test("A server that ran out of space in a line begins a new one when there is space again")
  func cutLineIsEnded() async throws {
    let cloud = try await tool.serve(after: Self.limit, "--request-log", log)
    try await ask(cloud, times: 40)
    while try text(log).utf8.count < 1_024 { await Task.yield() }
    try await ask(cloud, times: 3)
    let isCut = try !text(log).hasSuffix("\n")
    #expect(truncate(log, 0) == 0)
    try await ask(cloud, times: 1)
    #expect(await cloud.stop() == 0)
    let lines = try text(log).split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count == (isCut ? 4 : 3), "\(lines)")
    #expect(lines[0].isEmpty == isCut && lines[isCut ? 1 : 0].contains("lostLines"), "\(lines)")
    #expect(try requests(text(log)) == 1)
  }
}
