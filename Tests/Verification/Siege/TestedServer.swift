import Foundation
import LoopbackHTTP
import LoopbackServer
import VerificationSupport

/// The server under siege, in a process of its own.
final class TestedServer: Sendable {
  let access: Access
  private let child: ChildProcess
  private let folder: TemporaryFolder?

  /// Starts a server in which alice keeps a file of `fileBytes` bytes.
  init(_ storage: Options.Storage, fileBytes: Int) throws {
    folder = storage == .file ? try TemporaryFolder("siege") : nil
    let path = folder.map { [$0.path("siege.sqlite")] } ?? []
    child = try ChildProcess(SiegeCommand.childWords(["server"] + path))
    var access = try Access(child.greeting)
    try access.settle(fileBytes: fileBytes)
    self.access = access
  }

  /// In the child: serves a file, or a database in memory, until the input ends.
  static func serve(path: String?) async throws {
    let server = try path.map { try LoopbackServer(path: $0) } ?? LoopbackServer()
    defer { server.close() }
    let web = try LoopbackWebServer(
      server, options: .init(allowedOrigins: ["http://allowed.example"]))
    try ChildProcess.serve([
      "\(web.port)", web.apiToken(), try web.webAuthToken(for: "alice"),
      try web.webAuthToken(for: "mallory"), web.controlToken,
    ])
    await web.stop()
  }

  /// The process ID.
  var id: Int32 { child.id }

  /// Whether the process that was started still runs.
  var isRunning: Bool { child.status == nil }

  /// The resources that it holds.
  var figures: ProcessFigures { ProcessFigures(of: child.id) }

  /// Resident memory in bytes; 0 where the system does not tell.
  var memory: Int { figures.memory ?? 0 }

  /// The number of descriptors; 0 where the system does not tell.
  var descriptors: Int { figures.descriptors ?? 0 }

  /// Whether it holds no more than `count` descriptors within so many seconds.
  func returns(to count: Int, within seconds: Int) -> Bool {
    for _ in 0..<seconds * 10 where descriptors > count { Thread.sleep(forTimeInterval: 0.1) }
    return descriptors <= count
  }

  /// Ends the server; the exit code, or the signal with a minus sign.
  func stop() async -> Int32 { await child.stop() }
}

/// Runs `works` on threads of their own and `body` on this one, and returns when all have ended.
func withThreads<Result>(
  _ works: [@Sendable () -> Void], _ body: () throws -> Result
) rethrows -> Result {
  let group = DispatchGroup()
  for work in works {
    group.enter()
    let thread = Thread {
      work()
      group.leave()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  defer { group.wait() }
  return try body()
}

/// Texts for reports.
enum Figure {
  /// A number with three digits behind the point.
  static func text(_ value: Double) -> String { String(format: "%.3f", value) }

  /// A number of bytes in MiB.
  static func mebibytes(_ bytes: Int) -> String { text(Double(bytes) / 0x1p20) + " MiB" }

  /// Three quantiles of times in milliseconds.
  static func latencies(_ times: [Double]) -> String {
    "p50 \(text(quantile(0.5, of: times))) ms, p99 \(text(quantile(0.99, of: times))) ms, "
      + "longest \(text(times.max() ?? 0)) ms of \(times.count)"
  }

  /// Counts by name.
  static func counts(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}
