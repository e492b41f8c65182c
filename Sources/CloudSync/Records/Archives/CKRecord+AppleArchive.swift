import Foundation
import Records

/// Reads the archives of Apple's `encodeSystemFields(with:)` and `encode(with:)`.
///
/// Encrypted values cannot be read: their keys stay with the account.
extension CKRecord.State {
  init?(appleArchive coder: NSCoder) {
    guard let type = coder.appleText(forKey: "RecordType"), !type.isEmpty,
      let id = coder.appleObject(CKRecordID.self, forKey: "RecordID")
    else { return nil }
    var record = Record(id: id.value, type: type)
    record.changeTag = coder.appleText(forKey: "ETag").map { ChangeTag($0) }
    record.created = CKRecord.State.stamp(
      coder, time: "RecordCtime", user: "CreatorUserRecordID", device: nil)
    record.modified = CKRecord.State.stamp(
      coder, time: "RecordMtime", user: "LastModifiedUserRecordID", device: "ModifiedByDevice")
    record.parent = coder.appleObject(CKReference.self, forKey: "ParentReference")?.value.target
    record.share = coder.appleObject(CKReference.self, forKey: "ShareReference")?.value.target
    let values = coder.appleObject(AppleRecordValues.self, forKey: "ValueStore")
    record.fields = values?.values ?? Fields()
    self.init(record: record)
    changedKeys = values?.changedKeys ?? []
    isParentChanged =
      coder.containsValue(forKey: "HasUpdatedParentReference")
      && coder.decodeBool(forKey: "HasUpdatedParentReference")
    guard record.changeTag != nil else { return }
    var base = record.fields
    for key in changedKeys { base[key] = values?.originals[key] }
    self.base = base
  }

  private static func stamp(
    _ coder: NSCoder, time: String, user: String, device: String?
  ) -> RecordStamp? {
    guard let date = coder.appleObject(NSDate.self, forKey: time) else { return nil }
    let name = coder.appleObject(CKRecordID.self, forKey: user)?.recordName
    return RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate),
      user: UserID(name ?? CKCurrentUserDefaultName),
      device: device.flatMap { coder.appleText(forKey: $0) })
  }
}

extension ZoneID {
  /// Reads the archive of Apple's `CKRecordZoneID`.
  init?(appleArchive coder: NSCoder) {
    guard let name = coder.appleText(forKey: "ZoneName") else { return nil }
    self.init(name: name, owner: coder.appleText(forKey: "ownerName") ?? ZoneID.currentOwner)
  }
}

extension RecordID {
  /// Reads the archive of Apple's `CKRecordID`.
  init?(appleArchive coder: NSCoder) {
    guard let name = coder.appleText(forKey: "RecordName") else { return nil }
    let zone = coder.appleObject(CKRecordZoneID.self, forKey: "ZoneID")
    self.init(name: name, zone: zone?.value ?? .default)
  }
}

extension Reference {
  /// Reads the archive of Apple's `CKReference`.
  init?(appleArchive coder: NSCoder) {
    guard let target = coder.appleObject(CKRecordID.self, forKey: "recordID") else { return nil }
    let isOwning = coder.appleNumber(forKey: "referenceAction") == 1
    self.init(target: target.value, action: isOwning ? .deleteSelf : .none)
  }
}

extension Zone {
  /// Reads the archive of Apple's `CKRecordZone`.
  init?(appleArchive coder: NSCoder) {
    guard let id = coder.appleObject(CKRecordZoneID.self, forKey: "ZoneID") else { return nil }
    let bits = coder.appleObject(NSNumber.self, forKey: "Capabilities")?.uintValue ?? 0
    let share = coder.appleObject(CKReference.self, forKey: "ShareReference")
    self.init(
      id: id.value, capabilities: Capabilities(rawValue: bits), share: share?.value.target)
  }
}

extension ChangeToken {
  /// Reads the archive of Apple's `CKServerChangeToken`, which only Apple's servers understand.
  init?(appleArchive coder: NSCoder) {
    guard let data = coder.appleObject(NSData.self, forKey: "ChangeTokenData") else { return nil }
    self.init(bytes: [UInt8](Data(referencing: data)))
  }
}

extension Asset {
  /// Reads the archive of Apple's `CKAsset`: the URL of the file.
  init?(appleArchive coder: NSCoder) {
    guard let url = coder.appleObject(NSURL.self, forKey: "AssetFileURL") else { return nil }
    let location = (url as URL).absoluteString
    let size = coder.appleNumber(forKey: "AssetSize")
    self.init(checksum: "", size: max(0, Int(clamping: size)), location: location)
  }
}

extension Location {
  /// Reads the archive of CoreLocation's `CLLocation`.
  init?(appleArchive coder: NSCoder) {
    let prefix = "kCLLocationCodingKey"
    guard coder.allowsKeyedCoding, coder.containsValue(forKey: prefix + "CoordinateLatitude")
    else { return nil }
    func number(_ key: String, _ missing: Double) -> Double {
      let key = prefix + key
      return coder.containsValue(forKey: key) ? coder.decodeDouble(forKey: key) : missing
    }
    self.init(
      latitude: number("CoordinateLatitude", 0), longitude: number("CoordinateLongitude", 0),
      altitude: number("Altitude", 0), horizontalAccuracy: number("HorizontalAccuracy", 0),
      verticalAccuracy: number("VerticalAccuracy", -1), course: number("Course", -1),
      speed: number("Speed", -1),
      timestamp: Timestamp(secondsSinceReferenceDate: number("Timestamp", 0)))
  }
}
