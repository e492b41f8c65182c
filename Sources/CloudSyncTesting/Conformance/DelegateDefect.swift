/// A way in which an app loses or spoils what its users wrote.
public enum DelegateDefect: String, Hashable, Sendable, CaseIterable {
  /// Items do not get from one device to another even when nothing goes wrong.
  case doesNotSync
  /// After two devices changed the same item, they never agree again.
  case conflictsDoNotConverge
  /// A change made while an older one of the same item was on its way is lost.
  case changeDuringSendLost
  /// A save that failed with another code than those of conflicts is forgotten.
  case otherFailuresIgnored
  /// A change that failed only because others in its batch did is not queued again.
  case batchFailuresNotQueuedAgain
  /// A deletion that the server refused is forgotten, and the item comes back or stays elsewhere.
  case failedDeletionsIgnored
  /// What could not be saved for lack of storage is not saved when there is some.
  case quotaDropsEdits
  /// A change whose answer was lost is lost, or undone.
  case lostAnswersLoseEdits
  /// What the user removed with its zone stays on the device.
  case removedZoneKeepsData
  /// What the user removed with its zone is uploaded again.
  case removedZoneUploadedAgain
  /// After the zone was removed, new items do not reach the server.
  case zoneNotMadeAgain
  /// After a reset of encrypted data, what this device still has is not uploaded again.
  case encryptedDataResetLosesData
  /// After its change token expired, a device lacks items, or holds on to old ones.
  case expiredTokenLosesChanges
  /// Items deleted elsewhere stay when the server can tell of the deletion no more.
  case expiredTokenKeepsDeletedItems
  /// After another account signed in, the device still shows the data of the one before.
  case accountSwitchKeepsData
  /// The data of one account is uploaded to another one.
  case accountSwitchUploadsData
  /// After the account is back, its data is not.
  case returningAccountLacksData
  /// What was written before anybody signed in is not uploaded afterwards.
  case signInDropsEdits
  /// A crash loses changes that were made before it.
  case crashLosesEdits
  /// A crash brings items back that were deleted before it.
  case crashBringsBackDeletedItems

  /// What is wrong, in one sentence.
  public var sentence: String {
    switch self {
    case .doesNotSync: "Items do not get from one device to another."
    case .conflictsDoNotConverge: "Devices that changed the same item never agree again."
    case .changeDuringSendLost:
      "A change made while an older one of the same item was on its way is lost."
    case .otherFailuresIgnored:
      "A save that failed with another code than those of conflicts is forgotten."
    case .batchFailuresNotQueuedAgain:
      "A change that failed because others in its batch did is not queued again."
    case .failedDeletionsIgnored: "A deletion that the server refused is forgotten."
    case .quotaDropsEdits: "What did not fit into the storage is not saved when there is room."
    case .lostAnswersLoseEdits: "A change whose answer was lost is lost, or undone."
    case .removedZoneKeepsData: "What was removed with its zone stays on the device."
    case .removedZoneUploadedAgain: "What was removed with its zone is uploaded again."
    case .zoneNotMadeAgain: "After its zone was removed, new items do not reach the server."
    case .encryptedDataResetLosesData:
      "After a reset of encrypted data, what the device has is not uploaded again."
    case .expiredTokenLosesChanges: "After its change token expired, a device lacks changes."
    case .expiredTokenKeepsDeletedItems:
      "Items stay that were deleted while the change token was valid no more."
    case .accountSwitchKeepsData: "The device shows one account's data to another."
    case .accountSwitchUploadsData: "One account's data is uploaded to another."
    case .returningAccountLacksData: "After an account is back, its data is not."
    case .signInDropsEdits: "What was written before anybody signed in is not uploaded."
    case .crashLosesEdits: "A crash loses changes that were made before it."
    case .crashBringsBackDeletedItems: "A crash brings deleted items back."
    }
  }
}
