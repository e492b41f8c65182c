public import CloudProtocol
public import Records

/// One change of the stored rows.
public enum StorageChange: Hashable, Sendable {
  /// Adds or replaces an account.
  case putAccount(AccountRow)
  /// Adds or replaces the row of a database.
  case putDatabase(DatabaseRow)
  /// Adds or replaces the row of a zone.
  case putZone(ZoneRow, in: DatabaseID)
  /// Removes the row of a deleted zone.
  case removeZone(ZoneID, in: DatabaseID)
  /// Adds or replaces a record, or puts a tombstone in its place.
  ///
  /// Indirect, because a change is passed on several times and a row is large.
  indirect case putRecord(RecordRow, in: DatabaseID)
  /// Removes all records and tombstones of a zone.
  case removeRecords(of: ZoneID, in: DatabaseID)
  /// Removes the tombstones of a zone up to and including a sequence number.
  case removeTombstones(of: ZoneID, in: DatabaseID, through: UInt64)
  /// Adds or replaces a subscription.
  case putSubscription(Subscription, in: DatabaseID)
  /// Removes a subscription.
  case removeSubscription(SubscriptionID, in: DatabaseID)
  /// Adds a receipt and removes all but the latest `keeping` receipts of the same user and device,
  /// and all but the latest `Receipt.mostOfUser(keeping:)` of the user.
  ///
  /// A storage may remove those of the user later, with at most the 64th receipt that follows.
  case putReceipt(Receipt, keeping: Int)
  /// Removes all receipts of a user.
  case removeReceipts(of: UserID)
  /// Adds or replaces a record type.
  case putRecordType(RecordTypeRow)
  /// Adds or replaces the schema of a container's environment.
  case putSchema(SchemaRow)
  /// Stores the content of a file together with the receipt of its upload.
  case putUpload(UploadRow, content: AssetContent)
  /// Removes the receipt of an upload.
  case removeUpload(String)
  /// Removes every row and gives the storage a new identity and key.
  case removeEverything(identity: UInt64, secret: StorageSecret)
}
