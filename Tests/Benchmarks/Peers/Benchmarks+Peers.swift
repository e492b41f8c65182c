import CommandLineKit
import Foundation
import VerificationSupport

/// Other programs that do the same job, where they are installed.
enum PeerBenchmarks {
  private static let count = 10_000

  /// P16: the whole job against Kinto in memory and against git.
  static func all() -> [Benchmark] {
    let notes = Once { SpikeNote.samples(count) }
    return [
      Benchmark(
        name: "P16 push 10000 over HTTP on SQLite, against Kinto in memory", goal: 0.02,
        subject: Side("engine to server", operations: count) {
          guard KintoPeer.isInstalled else { throw Absence(reason: "kinto is not installed") }
          return try await BenchServer.run(.web, notes.value)[0]
        },
        reference: Side("Kinto, in batches of 25", operations: count) {
          try await KintoPeer.push(notes.value)
        }, rounds: 1, warmsUp: false),
      Benchmark(
        name: "P16 push 10000 over HTTP on SQLite, against git push", goal: 0.125,
        subject: Side("engine to server", operations: count) {
          try await BenchServer.run(.web, notes.value)[0]
        },
        reference: Side("git add, commit and push to a file", operations: count) {
          try await GitPeer.push(notes.value)
        }, rounds: 2, warmsUp: false),
    ]
  }
}

/// The path of a program, found in `PATH`.
private func path(of name: String) -> String? {
  let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
}

/// Files, one for each note, through git.
enum GitPeer {
  static func push(_ notes: [SpikeNote]) throws -> Duration {
    guard let git = path(of: "git") else { throw Absence(reason: "git is not installed") }
    func run(_ words: String..., in folder: String? = nil) throws {
      let status = try Process.start([git] + words, in: folder).end()
      guard status == 0 else { throw ToolError("git \(words[0]) failed") }
    }
    let folder = try TemporaryFolder("bench")
    let (work, remote) = (folder.path("work"), folder.path("remote.git"))
    try run("init", "-q", "--bare", remote)
    try run("init", "-q", work)
    for note in notes {
      var bytes: [UInt8] = []
      SpikeJSON.append(SpikeRecord(note), to: &bytes)
      try Data(bytes).write(to: URL(fileURLWithPath: "\(work)/\(note.name).json"))
    }
    let start = ContinuousClock.now
    try run("add", ".", in: work)
    try run(
      "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "notes",
      in: work)
    try run("push", "-q", "file://\(remote)", "HEAD:refs/heads/main", in: work)
    return ContinuousClock.now - start
  }
}

/// A JSON store that syncs, as its users run it.
enum KintoPeer {
  private static let batch = 25

  static var isInstalled: Bool { path(of: "kinto") != nil }

  static func push(_ notes: [SpikeNote]) async throws -> Duration {
    guard let kinto = path(of: "kinto") else {
      throw Absence(reason: "kinto is not installed")
    }
    let folder = try TemporaryFolder("bench")
    let port = try LocalSocket.listener().port
    let settings = String(decoding: PackageResources.kinto_ini, as: UTF8.self)
      .replacing("PORT", with: "\(port)")
    try Data(settings.utf8).write(to: URL(fileURLWithPath: folder.path("kinto.ini")))
    let server = try Process.start([kinto, "start", "--ini", folder.path("kinto.ini")])
    // Not by asking: the program inherits what signals the thread that starts it does not hear, and
    // those of the system's thread pool hear none that can be put off.
    defer {
      kill(server.processIdentifier, SIGKILL)
      _ = server.end()
    }
    var connection = try? LocalClient(port: port)
    for _ in 0..<300 where connection == nil {
      try await Task.sleep(for: .milliseconds(100))
      connection = try? LocalClient(port: port)
    }
    guard let connection else { throw Absence(reason: "kinto did not start") }
    try ask(connection, "PUT", "/v1/buckets/bench", "{}")
    try ask(connection, "PUT", "/v1/buckets/bench/collections/notes", "{}")
    let start = ContinuousClock.now
    for first in stride(from: 0, to: notes.count, by: batch) {
      let requests = notes[first..<min(first + batch, notes.count)].map { note in
        """
        {"path":"/v1/buckets/bench/collections/notes/records/\(note.name.lowercased())",\
        "body":{"data":{"text":"\(note.text)","position":\(note.position),\
        "isDone":\(note.isDone),"modified":\(note.modified)}}}
        """
      }
      try ask(
        connection, "POST", "/v1/batch",
        #"{"defaults":{"method":"PUT"},"requests":[\#(requests.joined(separator: ","))]}"#)
    }
    return ContinuousClock.now - start
  }

  private static func ask(
    _ connection: LocalClient, _ method: String, _ path: String, _ body: String
  ) throws {
    let request = HTTPMessage.request(
      method, path, fields: "authorization: Basic dTpw\r\ncontent-type: application/json\r\n",
      body: Array(body.utf8))
    let status = try connection.ask(request).status
    guard (200...299).contains(status) else { throw ToolError("kinto answered \(status)") }
  }
}
