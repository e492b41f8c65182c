import CloudSync

/// What one round of sending came to, collected from its events.
struct SendReport: Sendable {
  /// Changes the cloud confirmed or that were settled otherwise.
  private(set) var settled = 0
  /// Whether only a fetch can tell how to go on.
  var needsFetch = false
  /// Failures to be tried again later, the first of each code in the order they came.
  private(set) var passing: [CKError.Code] = []
  /// The longest wait the server asked for, in seconds.
  private(set) var serverDelay: Double?
  /// Why the zone could not be made, when that can't be repaired here.
  var zoneFailure: CKError.Code?

  /// Notes that changes were settled.
  mutating func settle(_ count: Int = 1) {
    settled += count
  }

  /// Notes a failure that is expected to pass by itself.
  mutating func note(passing error: CKError) {
    if !passing.contains(error.code) { passing.append(error.code) }
    if let seconds = error.retryAfterSeconds { serverDelay = max(serverDelay ?? seconds, seconds) }
  }

  /// The failure to tell of; `nil` when there is none.
  var failure: CKError.Code? {
    if let zoneFailure { return zoneFailure }
    guard let first = passing.first else { return nil }
    return passing.count == 1 && settled == 0 ? first : .partialFailure
  }
}
