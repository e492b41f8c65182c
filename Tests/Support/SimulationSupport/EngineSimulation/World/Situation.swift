import Records

/// What a run counts: mostly a fault, and what the engine was busy with when it came.
///
/// A situation has a name, such as `kill readingZone`; `Situations.txt` lists those that a full run
/// must reach.
package enum Situation {
  /// An event outside of the engine of a device.
  enum Fault: String, CaseIterable {
    case kill, power, network, outage, edit, deletion
    case manualFetch, manualSend, cancel, taskCancel, signOut, signIn
    case serverRestart, zoneDeleted, zonePurged, zoneReset, expiry, trim

    init(_ reason: ZoneDeletionReason) {
      switch reason {
      case .deleted: self = .zoneDeleted
      case .purged: self = .zonePurged
      case .encryptedDataReset: self = .zoneReset
      }
    }
  }

  /// The origin of the state with which the next run of an app starts.
  enum Restart: String, CaseIterable {
    case value, engineValue, encoded, log
    case olderValue, olderEngineValue, olderEncoded, olderLog

    /// The same with a state that is older than the newest.
    var older: Restart {
      switch self {
      case .value, .olderValue: .olderValue
      case .engineValue, .olderEngineValue: .olderEngineValue
      case .encoded, .olderEncoded: .olderEncoded
      case .log, .olderLog: .olderLog
      }
    }
  }

  /// The database token of a fetch before the server answered that a zone is deleted.
  enum TokenState: String, CaseIterable { case live, expired, absent }
}
