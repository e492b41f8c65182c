/// Figures of what a store did since it was opened, or since they were set back.
public struct SyncMetrics: Hashable, Sendable, Codable {
  /// Records saved and removed in the cloud.
  public var uploadCount = 0
  /// Versions and removals taken over from the cloud.
  public var downloadCount = 0
  /// Items that two devices changed, and differently.
  public var conflictCount = 0
  /// Requests that failed, and records that were refused.
  public var errorCount = 0
  /// How long the last sync took, in seconds; `nil` before the first ended.
  public var lastSyncDuration: Double?

  /// All figures at their beginning.
  public init() {}

  /// Sets the four counts back; the last duration stays, as it is no count.
  public mutating func reset() {
    uploadCount = 0
    downloadCount = 0
    conflictCount = 0
    errorCount = 0
  }
}
