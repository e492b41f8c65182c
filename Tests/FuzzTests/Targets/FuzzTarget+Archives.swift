import Foundation
import Records

@testable import CloudSync

extension FuzzTarget {
  /// The keyed archives of CloudKit's classes, in this package's form and in Apple's.
  static let keyed = FuzzTarget(name: "keyed") { input, planted in
    var input = input
    let (key, type) = KeyedWorld.classes[input.choice(KeyedWorld.classes.count)]
    let isOwn = input.byte() & 1 == 0
    guard isOwn else {
      let coder = FuzzCoder(KeyedWorld.members(&input, depth: 0))
      guard let object = type.init(coder: coder) else { return }
      if let record = object as? CKRecord { try plant(planted, record.recordType.utf8) }
      try again(object, type)
      return
    }
    var writer = ByteWriter()
    writer.write(UInt8(1))
    writer.write(raw: input.rest)
    writer.write(fixed: Checksum.of(writer.bytes))
    guard let object = type.init(coder: FuzzCoder([key: .bytes(writer.bytes)])) else { return }
    if let zone = object as? CKRecordZone.ID { try plant(planted, zone.zoneName.utf8) }
    try again(object, type)
  }

  /// Archives `object`, reads it, and archives that: the bytes must be the same.
  private static func again(_ object: any NSCoding, _ type: any NSCoding.Type) throws {
    let first = FuzzCoder()
    object.encode(with: first)
    let read = type.init(coder: FuzzCoder(first.values))
    guard let read else { throw Violation("\(type): an archive that can't be read") }
    let second = FuzzCoder()
    read.encode(with: second)
    let (bytes, others) = (KeyedWorld.bytes(first), KeyedWorld.bytes(second))
    try check(bytes == others, "\(type): an archive that is another one when read")
  }
}

private enum KeyedWorld {
  nonisolated(unsafe) static let classes: [(String, any NSCoding.Type)] = [
    ("CloudSyncRecord", CKRecord.self), ("CloudSyncSystemFields", CKRecord.self),
    ("CloudSyncRecord", CKShare.self), ("CloudSyncRecordID", CKRecord.ID.self),
    ("CloudSyncZoneID", CKRecordZone.ID.self), ("CloudSyncZone", CKRecordZone.self),
    ("CloudSyncReference", CKRecord.Reference.self), ("CloudSyncAsset", CKAsset.self),
    ("CloudSyncChangeToken", CKServerChangeToken.self), ("CloudSyncLocation", CLLocation.self),
    ("CloudSyncSubscription", CKSubscription.self), ("CloudSyncQuery", CKQuery.self),
    ("CloudSyncNotificationInfo", CKSubscription.NotificationInfo.self),
    ("CloudSyncNotificationID", CKNotification.ID.self),
    ("CloudSyncShareMetadata", CKShare.Metadata.self),
    ("CloudSyncShareParticipant", CKShare.Participant.self),
    ("CloudSyncUserIdentity", CKUserIdentity.self),
    ("CloudSyncUserLookup", CKUserIdentity.LookupInfo.self),
    ("CloudSyncQueryCursor", CKQueryOperation.Cursor.self),
    ("CloudSyncOperationGroup", CKOperationGroup.self),
  ]

  /// The classes that stand inside of Apple's archives, and their keys.
  private static let parts: [AnyClass] = [
    CKRecord.ID.self, CKRecordZone.ID.self, CKRecord.Reference.self, CKAsset.self,
    CLLocation.self, AppleRecordValues.self, CKServerChangeToken.self, CKRecord.self,
  ]

  private static let keys = [
    "RecordType", "RecordID", "ETag", "RecordCtime", "CreatorUserRecordID", "RecordMtime",
    "LastModifiedUserRecordID", "ModifiedByDevice", "ParentReference", "ShareReference",
    "ValueStore", "HasUpdatedParentReference", "ZoneName", "ownerName", "RecordName", "ZoneID",
    "recordID", "referenceAction", "Capabilities", "ChangeTokenData", "AssetFileURL", "AssetSize",
    "kCLLocationCodingKeyCoordinateLatitude", "kCLLocationCodingKeyTimestamp", "RecordValues",
    "OriginalValues", "ChangedKeys", "permissions", "access",
  ]

  /// An object's values as the input has them.
  static func members(_ input: inout FuzzInput, depth: Int) -> [String: FuzzCoder.Value] {
    var members: [String: FuzzCoder.Value] = [:]
    for _ in 0..<(input.byte() & 15) where !input.bytes.isEmpty {
      let key = input.choice(of: keys)
      members[key] = value(&input, depth: depth + 1)
    }
    return members
  }

  private static func value(_ input: inout FuzzInput, depth: Int) -> FuzzCoder.Value {
    switch input.choice(depth < 6 ? 6 : 4) {
    case 0: return .text(String(decoding: input.run(), as: UTF8.self))
    case 1: return .bytes(input.run())
    case 2: return .number(Int64(bitPattern: bits(&input)))
    case 3: return .real(Double(bitPattern: bits(&input)))
    case 4:
      let type: AnyClass = input.choice(of: parts)
      return .object(members(&input, depth: depth), type)
    default:
      var list: [FuzzCoder.Value] = []
      for _ in 0..<(input.byte() & 3) { list.append(value(&input, depth: depth + 1)) }
      return .list(list)
    }
  }

  private static func bits(_ input: inout FuzzInput) -> UInt64 {
    (0..<8).reduce(UInt64(0)) { bits, _ in bits << 8 | UInt64(input.byte()) }
  }

  /// The byte runs of an archive by their keys.
  static func bytes(_ coder: FuzzCoder) -> [String: [UInt8]] {
    coder.values.compactMapValues { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }
}
