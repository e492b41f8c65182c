extension CKSyncEngine {
  /// A change of a record that waits to be sent; the record itself is asked for when its turn
  /// comes.
  public enum PendingRecordZoneChange: Sendable, Hashable {
    /// The record is new or changed.
    case saveRecord(CKRecord.ID)
    /// The record is to go.
    case deleteRecord(CKRecord.ID)
  }

  /// A change of a zone that waits to be sent.
  public enum PendingDatabaseChange: Sendable {
    /// The zone is to be there.
    case saveZone(CKRecordZone)
    /// The zone is to go.
    case deleteZone(CKRecordZone.ID)
  }
}

extension CKSyncEngine.PendingRecordZoneChange: CustomStringConvertible {
  /// The kind and the record.
  public var description: String {
    switch self {
    case .saveRecord(let id): "saveRecord(\(id))"
    case .deleteRecord(let id): "deleteRecord(\(id))"
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange: Hashable {
  /// Whether both do the same to the same zone; which zone object it is does not matter.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    switch (lhs, rhs) {
    case (.saveZone(let lhs), .saveZone(let rhs)): lhs.zoneID == rhs.zoneID
    case (.deleteZone(let lhs), .deleteZone(let rhs)): lhs == rhs
    case (.saveZone, _), (.deleteZone, _): false
    }
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .saveZone(let zone):
      hasher.combine(0)
      hasher.combine(zone.zoneID)
    case .deleteZone(let id):
      hasher.combine(1)
      hasher.combine(id)
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange: CustomStringConvertible {
  /// The kind and the zone.
  public var description: String {
    switch self {
    case .saveZone(let zone): "saveZone(\(zone.zoneID))"
    case .deleteZone(let id): "deleteZone(\(id))"
    }
  }
}
