import Foundation
public import SyncSupport

/// Where annotations live in the cloud.
public enum AnnotationZone {
  /// The zone's name, in every account.
  ///
  /// Only own zones keep a change feed and can be shared; the default zone can't.
  public static let name = "AnnotationsZone"

  /// The account's own zone.
  public static let own = CKRecordZone.ID(
    zoneName: name, ownerName: CKCurrentUserDefaultName)

  /// The zone of `owner`, `nil` for the account itself.
  static func zoneID(_ owner: String?) -> CKRecordZone.ID {
    owner.map { CKRecordZone.ID(zoneName: name, ownerName: $0) } ?? own
  }

  static func recordID(_ id: UUID, owner: String?) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zoneID(owner))
  }
}

extension CKRecordZone.ID {
  /// Whether it is a zone of this app.
  var isOurs: Bool { zoneName == AnnotationZone.name }

  /// Whose zone it is: `nil` for the account's own.
  var owner: String? { ownerName == CKCurrentUserDefaultName ? nil : ownerName }
}

extension CKRecord {
  /// The item the record is; `nil` when its name is none of this store's.
  var itemID: UUID? {
    guard recordID.zoneID.isOurs,
      let id = UUID(uuidString: recordID.recordName), id.uuidString == recordID.recordName
    else { return nil }
    return id
  }

  /// All fields this version can keep, except files.
  var plainFields: Fields {
    var fields: Fields = [:]
    for key in allKeys() {
      if let object = object(forKey: key), let value = FieldValue(object) { fields[key] = value }
    }
    return fields
  }

  /// Sets a field; touched even when it is the same.
  ///
  /// - Parameter media: says where a file lies.
  func set(_ value: FieldValue?, forKey key: String, media: MediaFolder?) {
    switch value {
    case .text(let text)?: self[key] = text
    case .whole(let number)?: self[key] = NSNumber(value: number)
    case .number(let number)?: self[key] = number
    case .date(let date)?: self[key] = date
    case .bytes(let data)?: self[key] = data
    case .texts(let texts)?: self[key] = texts
    case .link(let name)?:
      // No action: a layer that goes takes nothing with it behind people's backs.
      self[key] = CKRecord.Reference(
        recordID: CKRecord.ID(recordName: name, zoneID: recordID.zoneID), action: .none)
    case .media(let name)?:
      if let media { self[key] = CKAsset(fileURL: media.url(name)) }
    case nil: setObject(nil, forKey: key)
    }
  }
}
