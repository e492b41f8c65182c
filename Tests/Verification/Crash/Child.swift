import CloudSync
import Foundation
import LoopbackServer
import SimulationSupport
import VerificationSupport

/// A process that writes until it is killed, and says on its output what is safe.
enum Child {
  /// Runs as `store` or `server`, in a folder, for a round, up to a number of changes; returns the
  /// exit code.
  static func run(_ words: [String]) async -> Int32 {
    guard words.count == 4, let round = Int(words[2]), let limit = Int(words[3]) else { return 2 }
    // A file that grew too large is an error of the write, not the end.
    signal(SIGXFSZ, SIG_IGN)
    let folder = URL(fileURLWithPath: words[1])
    do {
      switch words[0] {
      case "store": try store(folder.appendingPathComponent("state"), round, limit)
      case "server": try await server(folder.appendingPathComponent("cloud.sqlite"), round, limit)
      default: return 2
      }
      return 0
    } catch {
      return 1
    }
  }

  /// Appends names and, every 40th time, puts a snapshot of all of them in their place.
  private static func store(_ url: URL, _ round: Int, _ limit: Int) throws {
    let store = try FileStateStore(url: url)
    let loaded = try store.load()
    var names = StoredNames.of(loaded)
    if loaded == nil { try store.replace(with: StoredNames.snapshot([])) }
    say("open")
    for number in 0..<limit {
      let name = "\(round)-\(number)"
      names.append(name)
      if number % 40 == 39 {
        try store.replace(with: StoredNames.snapshot(names))
      } else {
        try store.append(StoredNames.entry(name, filler: number * 37 % 900))
      }
      say(name)
    }
  }

  private static func server(_ url: URL, _ round: Int, _ limit: Int) async throws {
    let server = try LoopbackServer(path: url.path)
    let client = CrashClient(server)
    try await client.makeZone("zone-\(round)")
    say("open")
    for number in 0..<limit {
      let name = "\(round)-\(number)"
      let text = String(repeating: "x", count: number * 37 % 900)
      try await client.change(name, saving: [name: text])
      say(name)
    }
    server.close()
  }
}
