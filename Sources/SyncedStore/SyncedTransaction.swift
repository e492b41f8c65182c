public import Foundation

/// Changes of a ``SyncedStore``'s items that are made together: all of them or none.
///
/// It exists during ``SyncedStore/change(_:)``.
public struct SyncedTransaction: Sendable {
  var table: ItemTable

  /// The item with a name; `nil` if there is none.
  ///
  /// Without a zone, the store's own is meant.
  public func item<Item: SyncedItem>(
    _ type: Item.Type = Item.self, named name: String, in zone: CKRecordZone.ID? = nil
  ) -> Item? {
    table[table.recordID(name, in: zone)]?.item as? Item
  }

  /// The items of a type, in the order in which they were created.
  ///
  /// Without a zone, the items of all zones are returned.
  public mutating func items<Item: SyncedItem>(
    _ type: Item.Type = Item.self, in zone: CKRecordZone.ID? = nil
  ) -> [Item] {
    table.items(Item.recordType, in: zone).compactMap { $0 as? Item }
  }

  /// Saves an item, new or changed; an equal one changes nothing.
  ///
  /// Without a zone, the store's own is meant.
  /// - Throws: ``SyncedStoreError`` if the store was opened without the item's type, CloudKit does
  ///   not accept the item's name, an item of another type has it, or the zone is not shared with
  ///   the account any more.
  public mutating func save<Item: SyncedItem>(
    _ item: Item, in zone: CKRecordZone.ID? = nil
  ) throws {
    let id = try table.checkedID(Item.recordType, item.recordName, in: zone)
    guard !item.isSynced || table.zone(id.zoneID).isAccessLost != true else {
      throw SyncedStoreError(
        .notShared,
        "The zone \(id.zoneID.zoneName) is not shared with this account any more, so the item was "
          + "not saved. If it was shared again, sync first.")
    }
    table.save(item, id)
  }

  /// Changes an item as it is now, and saves it: what was fetched since the app read it is kept.
  ///
  /// Without a zone, the store's own is meant.
  /// - Parameters:
  ///   - type: the type of the item.
  ///   - name: the name of the item's record.
  ///   - zone: the zone; `nil` for the store's own.
  ///   - change: changes the item, and leaves the name of its record.
  /// - Returns: whether there is such an item.
  /// - Throws: the error of `change`; as ``save(_:in:)``. The item is as before then.
  @discardableResult
  public mutating func edit<Item: SyncedItem>(
    _ type: Item.Type, named name: String, in zone: CKRecordZone.ID? = nil,
    _ change: (inout Item) throws -> Void
  ) throws -> Bool {
    guard var item = item(type, named: name, in: zone) else { return false }
    try change(&item)
    guard item.recordName == name else {
      throw SyncedStoreError(
        .invalidName,
        "The edit gave the item \"\(name)\" another name, so it was not saved. Delete the item and "
          + "save a new one.")
    }
    try save(item, in: zone)
    return true
  }

  /// Deletes an item; the absence of one is no error, and an item of another type that has the name
  /// stays.
  ///
  /// - Parameters:
  ///   - type: the type of the item.
  ///   - name: the name of the item's record.
  ///   - zone: the zone; `nil` for the store's own.
  ///   - evenIfUnknown: whether the deletion is sent although the store never had such a record.
  public mutating func delete<Item: SyncedItem>(
    _ type: Item.Type, named name: String, in zone: CKRecordZone.ID? = nil,
    evenIfUnknown: Bool = false
  ) {
    let id = table.recordID(name, in: zone)
    if let known = table[id], known.type != Item.recordType { return }
    table.delete(id, evenIfUnknown: evenIfUnknown ? Item.recordType : nil)
  }

  /// A value of the app that is stored with the items, and removed with the account's.
  public subscript(property name: String) -> String? {
    get { table.settings.properties[name] }
    set { table.settings.properties[name] = newValue }
  }
}

/// The first content of a ``SyncedStore``, from another store of the app.
public struct SyncedStoreImport: Sendable {
  var table: ItemTable

  /// The user record's name of the account that the items belong to; `nil` if there was no sign-in
  /// or the account is not known.
  ///
  /// Without it, unsent changes are sent to the first account that signs in, and are merged with
  /// what it has, whatever their system fields; other items with system fields are fetched again.
  public var owner: String? {
    get { table.settings.owner }
    set { table.settings.owner = newValue }
  }

  /// Whether the user wants sync; `nil` if undecided.
  public var isEnabled: Bool? {
    get { table.settings.isEnabled }
    set { table.settings.isEnabled = newValue }
  }

  /// The end of the last successful sync of the account; `nil` if there was none.
  public var lastSync: Date? {
    get { table.settings.lastSync }
    set { table.settings.lastSync = newValue }
  }

  /// Takes over the state of an engine that knows of no more than the items added here.
  ///
  /// Without an ``owner`` the state is not used, and everything is fetched.
  ///
  /// - Parameter data: the content of the store's state file.
  public mutating func takeOverState(_ data: Data) {
    table.settings.noteState(AtomicFile.checksum(data))
  }

  /// Adds an item.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - zone: the zone; `nil` for the store's own.
  ///   - systemFields: the system fields of the record as last seen; `nil` if there is none.
  ///   - isUnsent: whether the server has not confirmed the item.
  ///   - wasOffered: whether an unsent item may have reached the server.
  /// - Throws: ``SyncedStoreError`` if the store was opened without the item's type, or CloudKit
  ///   does not accept the item's name.
  public mutating func add<Item: SyncedItem>(
    _ item: Item, in zone: CKRecordZone.ID? = nil, systemFields: Data? = nil, isUnsent: Bool = true,
    wasOffered: Bool = false
  ) throws {
    let id = try table.checkedID(Item.recordType, item.recordName, in: zone)
    var entry = table.newEntry(Item.recordType)
    entry.item = item
    entry.systemFields = systemFields
    if isUnsent, item.isSynced {
      entry.change = table.newChange(isDeletion: false)
      entry.change?.wasOffered = wasOffered
      entry.change?.isHandedOver = wasOffered
    }
    table.set(entry, for: id)
  }

  /// Adds a deletion that the server has not confirmed.
  ///
  /// - Throws: as ``add(_:in:systemFields:isUnsent:wasOffered:)``.
  public mutating func addDeletion<Item: SyncedItem>(
    of type: Item.Type, named name: String, in zone: CKRecordZone.ID? = nil,
    systemFields: Data? = nil
  ) throws {
    let id = try table.checkedID(Item.recordType, name, in: zone)
    var entry = table.newEntry(Item.recordType)
    entry.systemFields = systemFields
    entry.change = table.newChange(isDeletion: true)
    entry.change?.wasOffered = true
    table.set(entry, for: id)
  }

  /// Adds a record that an older version of the app could not read.
  public mutating func addUnreadable(_ record: CKRecord) {
    var entry = table[record.recordID] ?? table.newEntry(record.recordType)
    entry.systemFields = record.systemFields
    entry.unreadable = record.allFields
    table.set(entry, for: record.recordID)
  }

  /// Sets a property; see ``SyncedTransaction``.
  public mutating func setProperty(_ name: String, _ value: String?) {
    table.settings.properties[name] = value
  }
}
