import CloudProtocol
import Records

/// The signed-in account as the machine knows it.
struct AccountState: Sendable {
  /// The result of the last check.
  var knowledge: AccountKnowledge = .unknown(nil)
  /// Whether the account is to be checked before the next operation.
  var needsCheck = false
  /// The report of the latest account change to the app.
  var report: AccountReport = .none
}

/// The known state of the account.
enum AccountKnowledge: Equatable, Sendable {
  /// Not determined yet, or the check failed.
  case unknown(CloudError?)
  /// Signed in.
  case signedIn(UserID)
  /// Determined: there is no usable account.
  case unavailable(CloudError)
}

/// The report of an account change to the app.
///
/// With a state store, the account change is stored before it is delivered: the app deletes the
/// data of the old account when it handles the change. If the store still had the earlier state,
/// an engine would continue with the old account's tokens after a restart, and the app would
/// receive neither that data again nor the account change.
enum AccountReport: Sendable {
  /// No account change is being reported.
  case none
  /// The account change is stored next; `attempts` attempts failed.
  case storing(attempts: Int, since: Moment)
  /// The driver writes the account change.
  case writing(attempts: Int, since: Moment)
  /// The store refused the account change, which is held back until the next attempt.
  case held(attempts: Int, until: Moment)
  /// The account change is stored and is delivered next.
  case stored
  /// The app is handling the account change.
  case delivered
}
