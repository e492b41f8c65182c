import CloudProtocol
import Records
import SyncMachine

/// A fault and what the engine was busy with when it came.
package enum Situation {
  /// What happens to a device from outside of its engine.
  enum Fault: String, CaseIterable {
    case kill, power, network, outage, edit, deletion
    case manualFetch, manualSend, cancel, signOut, signIn
    case serverRestart, zoneDeleted, zonePurged, zoneReset, expiry, trim

    init(_ reason: ZoneDeletionReason) {
      switch reason {
      case .deleted: self = .zoneDeleted
      case .purged: self = .zonePurged
      case .encryptedDataReset: self = .zoneReset
      }
    }
  }

  /// The situation's name.
  static func name(_ fault: Fault, _ stage: Stage) -> String {
    "\(fault.rawValue) \(stage.rawValue)"
  }

  /// The name of a request's failure.
  static func name(_ code: CloudError.Code, _ stage: Stage) -> String {
    "\(code) \(stage.rawValue)"
  }
}
