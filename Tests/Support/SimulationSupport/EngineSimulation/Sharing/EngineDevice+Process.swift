import LoopbackServer
import Records

extension EngineDevice {
  /// The state that the engines of one process share.
  final class ProcessState {
    var account: Int?
    /// Whether the account that is signed in can be used.
    var availability = AccountAvailability.available
    var isOnline = true
    /// The pushes that wait until it is online.
    var waitingPushes = 0
  }

  var account: Int? {
    get { processState.account }
    set {
      processState.account = newValue
      processState.waitingPushes = 0
    }
  }

  var isOnline: Bool {
    get { processState.isOnline }
    set { processState.isOnline = newValue }
  }

  var process: EngineDevice { host ?? self }

  var parts: [EngineDevice] { [self] + [guest].compactMap { $0 } }

  /// The part of the process whose engine is on `database`.
  func part(for database: DatabaseScope) -> EngineDevice {
    database == .shared ? guest ?? self : self
  }
}
