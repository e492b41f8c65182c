/// A scenario of `DelegateConformance`.
public enum ConformanceCase: String, Hashable, Sendable, CaseIterable {
  /// Items are created, changed and deleted without faults.
  case goodDay
  /// Two devices create, change or delete the same item.
  case conflicts
  /// The user changes an item again while its change is in flight.
  case changesDuringSends
  /// The server rejects a save once, with each error code that the app has to handle.
  case refusedSaves
  /// The server rejects a deletion once, with each error code that the app has to handle.
  case refusedDeletions
  /// The storage quota is exhausted and later raised.
  case fullStorage
  /// A change is carried out, but its reply is lost.
  case lostAnswers
  /// A save fails because its zone does not exist.
  case missingZones
  /// The zone is deleted by another app or by the user in the settings.
  case removedZones
  /// The user resets encrypted data.
  case encryptedDataReset
  /// All change tokens expire.
  case expiredTokens
  /// Accounts sign in, sign out and switch.
  case accounts
  /// The app is launched again, with and without unsent changes.
  case relaunches
  /// The app crashes at each step: before and after each callback, request and reply.
  case crashes

  /// Whether the case requires a zone that can be deleted.
  var removesZones: Bool {
    self == .missingZones || self == .removedZones || self == .encryptedDataReset
  }

  /// The defect of an app that throws in this case.
  var mainDefect: DelegateDefect {
    switch self {
    case .goodDay: .doesNotSync
    case .conflicts: .conflictsDoNotConverge
    case .changesDuringSends: .changeDuringSendLost
    case .refusedSaves: .otherFailuresIgnored
    case .refusedDeletions: .failedDeletionsIgnored
    case .fullStorage: .quotaDropsEdits
    case .lostAnswers: .lostAnswersLoseEdits
    case .missingZones: .zoneNotFoundIgnored
    case .removedZones: .removedZoneKeepsData
    case .encryptedDataReset: .encryptedDataResetLosesData
    case .expiredTokens: .expiredTokenLosesChanges
    case .accounts: .accountSwitchKeepsData
    case .relaunches: .stateNeverSaved
    case .crashes: .crashLosesEdits
    }
  }
}
