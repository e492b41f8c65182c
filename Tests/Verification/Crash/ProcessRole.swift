import CloudSync
import Foundation
import LoopbackServer
import SimulationSupport
import VerificationSupport

/// The program of a child process: it writes changes and prints the name of each that is safe.
enum ProcessRole: String, CaseIterable, Sendable {
  case store
  case server

  /// The files of a child in its folder; the first one holds the data.
  private var fileNames: [String] {
    switch self {
    case .store: ["state", "state.new", "state.lock"]
    case .server: ["", "-wal", "-shm", "-journal"].map { "cloud.sqlite" + $0 }
    }
  }

  private func data(in folder: URL) -> URL { folder.appendingPathComponent(fileNames[0]) }

  /// The files that a child may touch.
  func paths(in folder: URL) -> [String] {
    [folder.path] + fileNames.map { folder.appendingPathComponent($0).path }
  }

  /// In the child: writes up to `limit` changes; a round is the number of the process.
  func write(in folder: URL, round: Int, limit: Int) async throws {
    // A file that grew too large is an error of the write, not the end.
    signal(SIGXFSZ, SIG_IGN)
    switch self {
    case .store:
      let store = try FileStateStore(url: data(in: folder))
      let loaded = try store.load()
      var names = Self.names(in: loaded)
      if loaded == nil { try store.replace(with: Self.snapshot([])) }
      try await Self.write(round, limit) { name, number in
        names.append(name)
        if number % 40 == 39 {
          try store.replace(with: Self.snapshot(names))
        } else {
          try store.append(Array(name.utf8) + Array(repeating: Self.space, count: size(number)))
        }
      }
    case .server:
      let server = try LoopbackServer(path: data(in: folder).path)
      let client = CrashClient(server)
      try await client.makeZone("zone-\(round)")
      try await Self.write(round, limit) { name, number in
        let text = String(repeating: "x", count: size(number))
        try await client.change(name, saving: [name: text])
      }
      server.close()
    }
  }

  private func size(_ number: Int) -> Int { number * 37 % 900 }

  private static func write(
    _ round: Int, _ limit: Int, _ change: (_ name: String, _ number: Int) async throws -> Void
  ) async throws {
    say("open")
    for number in 0..<limit {
      let name = "\(round)-\(number)"
      try await change(name, number)
      say(name)
    }
  }

  /// The names of all changes that the children left in `folder`.
  func names(in folder: URL) throws -> Set<String> {
    switch self {
    case .store:
      return Set(Self.names(in: try FileStateStore(url: data(in: folder)).load()))
    case .server:
      let server = try LoopbackServer(path: data(in: folder).path)
      defer { server.close() }
      return Set(try CrashClient.texts(of: server).keys)
    }
  }

  // MARK: The state store: all names in the snapshot, and one in each entry behind it

  private static let space = UInt8(ascii: " ")

  private static func snapshot(_ names: [String]) -> [UInt8] {
    Array(names.joined(separator: " ").utf8) + [space]
  }

  private static func names(in contents: StateStoreContents?) -> [String] {
    guard let contents else { return [] }
    return contents.snapshot.split(separator: space).map { String(decoding: $0, as: UTF8.self) }
      + contents.entries.map { String(decoding: $0.prefix { $0 != space }, as: UTF8.self) }
  }
}
