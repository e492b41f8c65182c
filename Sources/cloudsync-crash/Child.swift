import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer

/// A process that writes until it is killed, and says on its output what is safe.
enum Child {
  /// Runs as `store` or `server`, in a folder, for a round; returns the exit code.
  static func run(_ words: [String]) async -> Int32 {
    guard words.count == 3, let round = Int(words[2]) else { return 2 }
    // A file that grew too large is an error of the write, not the end.
    signal(SIGXFSZ, SIG_IGN)
    let folder = URL(fileURLWithPath: words[1])
    do {
      switch words[0] {
      case "store": try store(folder.appendingPathComponent("state"), round)
      case "server": try await server(folder.appendingPathComponent("cloud.sqlite"), round)
      default: return 2
      }
      return 0
    } catch {
      return 1
    }
  }

  private static func store(_ url: URL, _ round: Int) throws {
    let store = try FileStateStore(url: url)
    if try store.load() == nil { try store.replace(with: Array("snapshot".utf8)) }
    say("open")
    for number in 0..<200 {
      let name = "\(round)-\(number)"
      try store.append(Array(name.utf8) + [UInt8](repeating: 32, count: number * 37 % 900))
      say(name)
    }
  }

  private static func server(_ url: URL, _ round: Int) async throws {
    let server = try LoopbackServer(path: url.path)
    let client = CrashClient(server)
    try await client.makeZone("zone-\(round)")
    say("open")
    for number in 0..<100 {
      let name = "\(round)-\(number)"
      try await client.save(name, text: String(repeating: "x", count: number * 37 % 900))
      say(name)
    }
    server.close()
  }

  private static func say(_ name: String) { print(name) }
}
