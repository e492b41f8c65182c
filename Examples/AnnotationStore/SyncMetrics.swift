/// Figures about the syncs of a store since it was opened, or since they were reset.
public struct SyncMetrics: Hashable, Sendable, Codable {
  /// Records saved and removed on the server.
  public var uploadCount = 0
  /// Versions and removals taken over from the server.
  public var downloadCount = 0
  /// Items that two devices changed differently.
  public var conflictCount = 0
  /// Requests that failed, and records that were refused.
  public var errorCount = 0
  /// The duration of the last sync in seconds; `nil` before the first ended.
  public var lastSyncDuration: Double?

  /// All figures at 0.
  public init() {}

  /// Sets the four counts to 0; the last duration stays.
  public mutating func reset() {
    let duration = lastSyncDuration
    self = SyncMetrics()
    lastSyncDuration = duration
  }

  /// Adds the counts of other figures, and takes over their duration.
  public mutating func add(_ other: SyncMetrics) {
    uploadCount += other.uploadCount
    downloadCount += other.downloadCount
    conflictCount += other.conflictCount
    errorCount += other.errorCount
    lastSyncDuration = other.lastSyncDuration ?? lastSyncDuration
  }
}
