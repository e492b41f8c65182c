import CloudProtocol
import LoopbackServer
import Records
import SyncMachine

/// A fault and what the engine was busy with when it came.
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

  /// The name of a start from a state, of which a request may have been under way.
  static func name(_ kind: Restart, isInFlight: Bool) -> String {
    "restart \(kind.rawValue)\(isInFlight ? " underWay" : "")"
  }

  /// A server in memory lost what it held.
  static let serverBeganAgain = "server began again"

  /// The name of a state that an account comes to.
  static func name(_ availability: AccountAvailability) -> String {
    "account \(availability.rawValue)"
  }

  /// The name of a state that is used for another database.
  static func name(_ difference: ForeignStateApp.Difference) -> String {
    "foreign \(difference.rawValue)"
  }

  /// The name of a deletion that an app is told.
  static func name(_ reason: ZoneDeletionReason, _ token: TokenState) -> String {
    "\(reason) told \(token.rawValue)"
  }

  /// The name of the failure of single items in an answer.
  static func name(itemOf stage: Stage, _ code: CloudError.Code) -> String {
    "item \(code) \(stage.rawValue)"
  }

  /// The situation's name.
  static func name(_ fault: Fault, _ stage: Stage) -> String {
    "\(fault.rawValue) \(stage.rawValue)"
  }

  /// The name of something that is done about a share.
  static func name(_ action: SharingAction, _ stage: Stage) -> String {
    "\(action.rawValue) \(stage.rawValue)"
  }

  /// The name of a request's failure.
  static func name(_ code: CloudError.Code, _ stage: Stage) -> String {
    "\(code) \(stage.rawValue)"
  }
}
