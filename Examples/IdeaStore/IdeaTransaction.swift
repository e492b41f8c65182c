import Foundation

/// What the store remembers besides ideas.
struct IdeaSettings: Codable, Hashable, Sendable {
  /// The account the ideas belong to, by its user record's name; `nil` while nobody's.
  var owner: String?
  /// The latest date of change that the server gave a record this device has seen.
  var highWater: Date?
  /// When every name in the cloud was last compared.
  var lastSweep: Date?
  /// When a sync last succeeded.
  var lastSync: Date?
}

/// One write: rows, settings and lines of the log that become true together.
struct IdeaTransaction: Codable, Sendable {
  /// Rows that are new or changed.
  var rows: [IdeaRow] = []
  /// The names of rows that are gone.
  var removed: [String] = []
  /// The settings, when they changed.
  var settings: IdeaSettings?
  /// New lines of the log.
  var log: [IdeaLogEntry] = []

  var isEmpty: Bool { rows.isEmpty && removed.isEmpty && settings == nil && log.isEmpty }
}
