/// A way in which an app loses or corrupts its users' data.
public enum DelegateDefect: String, Hashable, Sendable, CaseIterable {
  /// Items are not synced between devices even without faults.
  case doesNotSync
  /// The app's items are not in the zone that the suite was created with.
  ///
  /// The other cases are not run, because they remove that zone.
  case itemsInAnotherZone
  /// Items deleted on another device stay on this one.
  case fetchedDeletionsIgnored
  /// Items deleted on this device stay on the server.
  case deletionsNotSent
  /// After two devices changed the same item, they stay different.
  case conflictsDoNotConverge
  /// After two devices changed the same item, they agree on a text with neither change.
  case conflictsLoseBothEdits
  /// A save that failed with `serverRecordChanged` is not repeated, although the same conflict is
  /// resolved otherwise when the other change is fetched before the send.
  case serverRecordChangedIgnored
  /// A save that failed with `zoneNotFound` is not repeated in a new zone.
  case zoneNotFoundIgnored
  /// No save that failed is repeated, whatever its error.
  ///
  /// It replaces the defects of the single errors.
  case saveFailuresIgnored
  /// A change made while an older one of the same item was in flight is lost.
  case changeDuringSendLost
  /// A save that failed with an error other than a conflict is not repeated.
  case otherFailuresIgnored
  /// A save that failed with an error that a repetition seldom cures, such as `permissionFailure`,
  /// is not repeated.
  ///
  /// A suite for an app that gives such a change up, and tells its user, tolerates this defect.
  case permanentFailuresIgnored
  /// A change that failed only because others in its batch did is not queued again.
  case batchFailuresNotQueuedAgain
  /// A rejected deletion is not repeated, and the item returns or remains on other devices.
  case failedDeletionsIgnored
  /// A save that failed for lack of storage is not repeated when there is storage again.
  case quotaDropsEdits
  /// A change whose reply was lost is lost or undone.
  case lostAnswersLoseEdits
  /// Items of a zone that the user deleted remain on the device.
  case removedZoneKeepsData
  /// Items of a zone that the user deleted are uploaded again.
  case removedZoneUploadedAgain
  /// After the zone was deleted, new items are not uploaded.
  case zoneNotMadeAgain
  /// After its zone was deleted between a fetch and a send, the device no longer syncs.
  case zoneRemovalStopsSync
  /// After a reset of encrypted data, the items of this device are not uploaded again.
  case encryptedDataResetLosesData
  /// After its change token expired, a device lacks items or keeps deleted ones.
  case expiredTokenLosesChanges
  /// Items deleted on another device remain when the server no longer lists the deletion.
  case expiredTokenKeepsDeletedItems
  /// After an account switch, the device still shows the data of the previous account.
  case accountSwitchKeepsData
  /// The data of one account is uploaded to another one.
  case accountSwitchUploadsData
  /// After an account has signed in again, its data is missing.
  case returningAccountLacksData
  /// Items created before the first sign-in are not uploaded afterwards.
  case signInDropsEdits
  /// The engine starts without the state of its last launch: it fetches everything again.
  case stateNeverSaved
  /// A fetch before the send replaces or loses a change that was not sent, without any crash.
  ///
  /// The app is not crashed then, because every crash would show the same loss.
  case fetchOverwritesUnsentEdits
  /// A crash loses changes that were made before it.
  case crashLosesEdits
  /// After a crash, items deleted before it return.
  case crashBringsBackDeletedItems

  /// The defects of the single errors that `saveFailuresIgnored` replaces.
  static let ignoredSaveFailures: Set<DelegateDefect> = [
    .serverRecordChangedIgnored, .zoneNotFoundIgnored, .batchFailuresNotQueuedAgain,
    .otherFailuresIgnored, .permanentFailuresIgnored, .quotaDropsEdits,
  ]

  /// Whether only an addition of this engine to Apple's API avoids the defect.
  ///
  /// A report lists it as advice.
  public var needsAddition: Bool { self == .expiredTokenKeepsDeletedItems }

  /// A description of the defect.
  public var sentence: String {
    switch self {
    case .doesNotSync: "Items do not get from one device to another."
    case .itemsInAnotherZone: "The items are not in the zone that the suite was created with."
    case .fetchedDeletionsIgnored: "Items deleted on another device stay on this one."
    case .deletionsNotSent: "Items deleted on this device stay on the server."
    case .serverRecordChangedIgnored: "A save that failed with serverRecordChanged is forgotten."
    case .zoneNotFoundIgnored: "A save that failed with zoneNotFound is forgotten."
    case .saveFailuresIgnored: "Every save that failed is forgotten, whatever its error."
    case .conflictsDoNotConverge: "Devices that changed the same item never agree again."
    case .conflictsLoseBothEdits:
      "Devices that changed the same item agree on a version with neither change."
    case .changeDuringSendLost:
      "A change made while an older one of the same item was in flight is lost."
    case .otherFailuresIgnored:
      "A save that failed with another code than those of conflicts is forgotten."
    case .permanentFailuresIgnored:
      "A save that failed with a code that a repetition seldom cures is forgotten."
    case .batchFailuresNotQueuedAgain:
      "A change that failed because others in its batch did is not queued again."
    case .failedDeletionsIgnored: "A deletion that the server refused is forgotten."
    case .quotaDropsEdits: "A change refused for full storage is not saved when there is room."
    case .lostAnswersLoseEdits: "A change whose answer was lost is lost, or undone."
    case .removedZoneKeepsData: "Items that were removed with their zone stay on the device."
    case .removedZoneUploadedAgain: "Items that were removed with their zone are uploaded again."
    case .zoneNotMadeAgain: "After its zone was removed, new items do not reach the server."
    case .zoneRemovalStopsSync:
      "After its zone was removed between a fetch and a send, a device no longer syncs."
    case .encryptedDataResetLosesData:
      "After a reset of encrypted data, the items are not uploaded again."
    case .expiredTokenLosesChanges: "After its change token expired, a device lacks changes."
    case .expiredTokenKeepsDeletedItems:
      "Items that were deleted while the change token was expired stay."
    case .accountSwitchKeepsData: "The device shows one account's data to another."
    case .accountSwitchUploadsData: "One account's data is uploaded to another."
    case .returningAccountLacksData: "After an account signs in again, its data is missing."
    case .signInDropsEdits: "Items written before the first sign-in are not uploaded."
    case .stateNeverSaved: "Each launch starts the engine without its state and fetches everything."
    case .fetchOverwritesUnsentEdits: "A fetch replaces changes that were not sent."
    case .crashLosesEdits: "A crash loses changes that were made before it."
    case .crashBringsBackDeletedItems: "A crash brings deleted items back."
    }
  }
}
