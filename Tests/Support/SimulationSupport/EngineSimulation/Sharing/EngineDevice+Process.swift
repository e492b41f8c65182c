import LoopbackServer
import Records

extension EngineDevice {
  /// What the engines of one process have in common.
  final class Surroundings {
    var account: Int?
    var availability = AccountAvailability.available
    var isOnline = true
    var waitingPushes = 0
  }

  /// Who is signed in, counted from 1; `nil` for nobody.
  var account: Int? {
    get { surroundings.account }
    set { surroundings.account = newValue }
  }

  /// Whether the account that is signed in can be used.
  var availability: AccountAvailability {
    get { surroundings.availability }
    set { surroundings.availability = newValue }
  }

  var isOnline: Bool {
    get { surroundings.isOnline }
    set { surroundings.isOnline = newValue }
  }

  /// Pushes that wait until it is online.
  var waitingPushes: Int {
    get { surroundings.waitingPushes }
    set { surroundings.waitingPushes = newValue }
  }

  /// What the process began with: itself, or what it is the guest of.
  var process: EngineDevice { host ?? self }

  /// Itself and what else runs in its process.
  var parts: [EngineDevice] { [self] + [guest].compactMap { $0 } }

  /// The part of the process whose engine is on `database`.
  func part(for database: DatabaseScope) -> EngineDevice {
    database == .shared ? guest ?? self : self
  }
}
