/// The number of times that things happened in worlds of engines.
package struct WorldTally: Hashable, Sendable {
  /// Steps: jobs, messages, moves of the clock, and what users and the environment do.
  package var steps = 0
  /// Jobs of tasks among them.
  package var jobs = 0
  /// Requests that reached the server.
  package var requests = 0
  /// Edits.
  package var edits = 0
  /// Ends of devices without warning.
  package var kills = 0
  /// Ends in the middle of a write.
  package var powerLosses = 0
  /// Starts that followed.
  package var restarts = 0
  /// Those that went on from an older state than the newest.
  package var staleRestarts = 0
  /// Restarts of the server.
  package var serverRestarts = 0
  /// Ends of the server's process that it came back from by reading its file.
  package var serverKills = 0
  /// Cuts of the server's power, after which it did the same.
  package var serverPowerLosses = 0
  /// Worlds whose server keeps everything in a file.
  package var worldsOnDisk = 0

  /// The number of times that each situation was reached.
  package var situations: [String: Int] = [:]

  /// Creates an empty tally.
  package init() {}

  private static var counts: [WritableKeyPath<WorldTally, Int>] {
    [
      \.steps, \.jobs, \.requests, \.edits, \.kills, \.powerLosses, \.restarts, \.staleRestarts,
      \.serverRestarts, \.serverKills, \.serverPowerLosses, \.worldsOnDisk,
    ]
  }

  /// Adds every count to a hash.
  func mix(into hash: inout TraceHash) {
    for count in Self.counts { hash.mix(self[keyPath: count]) }
    for (name, count) in situations.sorted(by: { $0.key < $1.key }) {
      hash.mix(name)
      hash.mix(count)
    }
  }

  /// Adds the counts of another world.
  package mutating func add(_ other: WorldTally) {
    for count in Self.counts { self[keyPath: count] += other[keyPath: count] }
    situations.merge(other.situations) { $0 + $1 }
  }
}
