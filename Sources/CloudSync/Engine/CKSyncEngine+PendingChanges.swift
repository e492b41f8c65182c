extension CKSyncEngine {
  /// A pending change of a record.
  ///
  /// The delegate supplies the record when the change is sent.
  public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
    /// The record is saved.
    case saveRecord(CKRecord.ID)
    /// The record is deleted.
    case deleteRecord(CKRecord.ID)

    /// The kind and the record.
    public var description: String {
      switch self {
      case .saveRecord(let id): "saveRecord(\(id))"
      case .deleteRecord(let id): "deleteRecord(\(id))"
      }
    }
  }

  /// A save or deletion of a zone that the server has not confirmed.
  public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
    /// The zone is saved.
    case saveZone(CKRecordZone)
    /// The zone is deleted.
    case deleteZone(CKRecordZone.ID)

    /// Whether both are the same change of the same zone, whatever its object.
    public static func == (lhs: Self, rhs: Self) -> Bool {
      switch (lhs, rhs) {
      case (.saveZone(let lhs), .saveZone(let rhs)): lhs.zoneID == rhs.zoneID
      case (.deleteZone(let lhs), .deleteZone(let rhs)): lhs == rhs
      case (.saveZone, _), (.deleteZone, _): false
      }
    }

    /// Hashes the values that `==` compares.
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

    /// The kind and the zone.
    public var description: String {
      switch self {
      case .saveZone(let zone): "saveZone(\(zone.zoneID))"
      case .deleteZone(let id): "deleteZone(\(id))"
      }
    }
  }
}
