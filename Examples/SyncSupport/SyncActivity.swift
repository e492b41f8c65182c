import Foundation

/// What an engine did since it was made: figures for people and tests.
public struct SyncActivity: Hashable, Sendable, Codable {
  /// One change that can't be sent for now, or a record that can't be read.
  public struct Problem: Hashable, Sendable, Codable {
    /// The record's name, or the zone's for a problem with the zone.
    public var name: String
    /// The number of the CloudKit error, 0 for a problem of this device.
    public var code: Int
    /// What happened and what to do, in words.
    public var message: String
  }

  /// Records sent and accepted.
  public var saved = 0
  /// Deletions sent and done.
  public var deleted = 0
  /// Versions received that changed what people see.
  public var received = 0
  /// Deletions received that took something people saw.
  public var removed = 0
  /// Changes sent again after a failure the app has to handle.
  public var sentAgain = 0
  /// How often the old account's data was wiped.
  public var wipes = 0
  /// Problems that stand, in the order they appeared.
  public private(set) var problems: [Problem] = []

  /// Nothing done yet.
  public init() {}

  mutating func note(_ problem: Problem) {
    problems.removeAll { $0.name == problem.name }
    problems.append(problem)
    if problems.count > 1_000 { problems.removeFirst(problems.count - 1_000) }
  }

  mutating func solve(_ name: String) {
    problems.removeAll { $0.name == name }
  }

  mutating func solveAll() {
    problems = []
  }
}
