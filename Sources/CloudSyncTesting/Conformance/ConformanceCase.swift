/// What an app is put through.
public enum ConformanceCase: String, Hashable, Sendable, CaseIterable {
  /// Items are made, changed and deleted, and nothing goes wrong.
  case goodDay
  /// Two devices change, make or delete the same item.
  case conflicts
  /// The user goes on while a change is on its way.
  case changesDuringSends
  /// The server refuses a save, once, with each code that is the app's to handle.
  case refusedSaves
  /// The server refuses a deletion, likewise.
  case refusedDeletions
  /// There is no storage left, and then there is.
  case fullStorage
  /// A change is made, and its answer gets lost.
  case lostAnswers
  /// The zone is removed, by another app or by the user in the settings.
  case removedZones
  /// The user resets encrypted data.
  case encryptedDataReset
  /// All change tokens expire.
  case expiredTokens
  /// People sign in and out, and others take their place.
  case accounts
  /// The app crashes at each step: before and after each callback, request and answer.
  case crashes

  /// Whether the app's zone has to be one that can be removed.
  var removesZones: Bool { self == .removedZones || self == .encryptedDataReset }

  /// What an app has that throws in this case.
  var mainDefect: DelegateDefect {
    switch self {
    case .goodDay: .doesNotSync
    case .conflicts: .conflictsDoNotConverge
    case .changesDuringSends: .changeDuringSendLost
    case .refusedSaves: .otherFailuresIgnored
    case .refusedDeletions: .failedDeletionsIgnored
    case .fullStorage: .quotaDropsEdits
    case .lostAnswers: .lostAnswersLoseEdits
    case .removedZones: .removedZoneKeepsData
    case .encryptedDataReset: .encryptedDataResetLosesData
    case .expiredTokens: .expiredTokenLosesChanges
    case .accounts: .accountSwitchKeepsData
    case .crashes: .crashLosesEdits
    }
  }
}
