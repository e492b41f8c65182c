import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

/// Archives in the form that Apple's classes write, built here from what is known of that form.
@Suite("Archives made on Apple platforms")
struct ArchiveAppleTests {
  /// Collects the objects of a keyed archive and hands out the references to them.
  private struct Builder {
    var objects: [Any] = ["$null"]

    mutating func add(_ object: Any) -> [String: Any] {
      objects.append(object)
      return ["CF$UID": objects.count - 1]
    }

    mutating func add(_ values: [String: Any], of name: String) -> [String: Any] {
      var object = values
      object["$class"] = add(["$classes": [name, "NSObject"], "$classname": name])
      return add(object)
    }

    mutating func zoneID(_ name: String, _ owner: String) -> [String: Any] {
      let values: [String: Any] = [
        "ZoneName": add(name), "ownerName": add(owner), "anonymousCKUserID": ["CF$UID": 0],
        "databaseScopeKey": 0,
      ]
      return add(values, of: "CKRecordZoneID")
    }

    mutating func recordID(_ name: String, _ zone: [String: Any]) -> [String: Any] {
      let values: [String: Any] = ["RecordName": add(name), "ZoneID": zone]
      return add(values, of: "CKRecordID")
    }

    mutating func reference(_ id: [String: Any], _ action: Int) -> [String: Any] {
      add(["recordID": id, "referenceAction": action], of: "CKReference")
    }

    mutating func date(_ seconds: Double) -> [String: Any] {
      add(["NS.time": seconds], of: "NSDate")
    }

    mutating func list(_ items: [[String: Any]], of name: String) -> [String: Any] {
      add(["NS.objects": items], of: name)
    }

    mutating func dictionary(_ items: [(String, [String: Any])]) -> [String: Any] {
      let keys = items.map { add($0.0) }
      return add(["NS.keys": keys, "NS.objects": items.map(\.1)], of: "NSMutableDictionary")
    }

    func archive(_ top: [String: Any]) throws -> Data {
      let archive: [String: Any] = [
        "$archiver": "NSKeyedArchiver", "$version": 100000, "$objects": objects, "$top": top,
      ]
      let xml = try PropertyListSerialization.data(
        fromPropertyList: archive, format: .xml, options: 0)
      // Read and written again, so that the references get the binary form that Apple writes.
      let plist = try PropertyListSerialization.propertyList(from: xml, format: nil)
      return try PropertyListSerialization.data(
        fromPropertyList: plist, format: .binary, options: 0)
    }

    func archive(root: [String: Any]) throws -> Data { try archive(["root": root]) }

    mutating func systemFields() -> [String: Any] {
      let zone = zoneID("Notes", "_owner")
      let users = zoneID("_defaultZone", "__defaultOwner__")
      let null: [String: Any] = ["CF$UID": 0]
      return [
        "RecordType": add("Note"), "RecordID": recordID("n1", zone), "ETag": add("mfxf03to"),
        "RecordCtime": date(780_376_728.161), "RecordMtime": date(780_376_729.5),
        "CreatorUserRecordID": recordID("_creator", users),
        "LastModifiedUserRecordID": recordID("__defaultOwner__", users),
        "ModifiedByDevice": add("Joe’s Mac mini"), "KnownToServer": true,
        "ParentReference": reference(recordID("p", zone), 0),
        "ShareReference": reference(recordID("Share-1", zone), 0),
        "HasUpdatedParentReference": false, "HasUpdatedShareReference": false,
        "ProtectionData": null, "PreviousShareReference": null, "Permission": 0, "URL": null,
        "ZoneishKeyID": add(Data([0xff, 0x89])), "WasCached": false,
      ]
    }

    mutating func wholeRecord() -> [String: Any] {
      var record = systemFields()
      let zone = zoneID("Notes", "_owner")
      let target = reference(recordID("other", zone), 1)
      let base = add(["NS.base": ["CF$UID": 0], "NS.relative": add("file:///tmp/a")], of: "NSURL")
      let asset = add(["AssetFileURL": base, "AssetSize": 7], of: "CKAsset")
      let location = add(
        [
          "kCLLocationCodingKeyCoordinateLatitude": 1.5,
          "kCLLocationCodingKeyCoordinateLongitude": -2.25,
          "kCLLocationCodingKeyTimestamp": 5.0,
        ], of: "CLLocation")
      let values = dictionary([
        ("title", add("new")), ("count", add(3)), ("ratio", add(0.5)), ("when", date(1.25)),
        ("data", add(Data([1, 2]))), ("to", target), ("file", asset), ("place", location),
        ("tags", list([add("a"), add("b")], of: "NSArray")),
      ])
      let originals = dictionary([("title", add("old")), ("gone", add("was"))])
      let changed = list([add("title"), add("gone")], of: "NSMutableSet")
      record["ValueStore"] = add(
        ["RecordValues": values, "OriginalValues": originals, "ChangedKeys": changed],
        of: "CKRecordValueStore")
      record["EncryptedValueStore"] = add(
        ["RecordValues": dictionary([("secret", add(["x": 1], of: "CKEncryptedString"))])],
        of: "CKEncryptedRecordValueStore")
      return record
    }
  }

  /// Proves CS-19, E5.
  @Test("An Apple archive's ID, type, tag, dates, users, parent and share are read")
  func appleArchiveSystemFieldsAreRead() throws {
    var builder = Builder()
    let top = builder.systemFields()
    for isSecure in [true, false] {
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: builder.archive(top))
      unarchiver.requiresSecureCoding = isSecure
      let record = try #require(CKRecord(coder: unarchiver))
      unarchiver.finishDecoding()
      check(record)
      #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
      record["title"] = "x"
      #expect(record.pendingSave().changeTag == ChangeTag("mfxf03to"))
      #expect(try reread(record).value == record.value, "our own archive of it is read again")
    }
  }

  private func check(_ record: CKRecord) {
    let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_owner")
    #expect(record.recordType == "Note" && record.recordChangeTag == "mfxf03to")
    #expect(record.recordID == CKRecord.ID(recordName: "n1", zoneID: zoneID))
    #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 780_376_728.161))
    #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 780_376_729.5))
    #expect(record.creatorUserRecordID == CKRecord.ID(recordName: "_creator"))
    #expect(record.lastModifiedUserRecordID?.recordName == CKCurrentUserDefaultName)
    #expect(record.parent?.recordID == CKRecord.ID(recordName: "p", zoneID: zoneID))
    #expect(record.share?.recordID.recordName == "Share-1")
    #expect(record.value.modified?.device == "Joe’s Mac mini")
  }

  private func reread(_ record: CKRecord) throws -> CKRecord {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: record, requiringSecureCoding: true)
    return try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
  }

  /// Proves CS-19.
  @Test("A whole record in an Apple archive is read: values, changed keys and server values")
  func appleArchiveWholeRecordIsRead() throws {
    var builder = Builder()
    let root = builder.add(builder.wholeRecord(), of: "CKRecord")
    let record = try #require(
      try NSKeyedUnarchiver.unarchivedObject(
        ofClass: CKRecord.self, from: builder.archive(root: root)))
    check(record)
    #expect(record["title"] as? String == "new" && record["count"] as? Int64 == 3)
    #expect(record["ratio"] as? Double == 0.5 && record["data"] as? Data == Data([1, 2]))
    #expect(record["when"] as? Date == Date(timeIntervalSinceReferenceDate: 1.25))
    #expect((record["to"] as? CKRecord.Reference)?.action == .deleteSelf)
    #expect((record["file"] as? CKAsset)?.fileURL?.path == "/tmp/a")
    #expect((record["place"] as? CLLocation)?.coordinate.longitude == -2.25)
    #expect(record["tags"] as? [String] == ["a", "b"])
    #expect(record.changedKeys() == ["gone", "title"])
    #expect(record.encryptedValues.allKeys().isEmpty, "their keys are not in the archive")
    let ancestor = try #require(record.ancestor)
    #expect(ancestor["title"] as? String == "old" && ancestor["gone"] as? String == "was")
    #expect(ancestor["count"] as? Int == 3)
  }

  /// Proves CS-19.
  @Test("IDs, zones, references and tokens are read as root objects of an Apple archive")
  func appleArchiveRootObjectsAreRead() throws {
    func read<Object: NSObject & NSSecureCoding>(
      _ type: Object.Type, _ make: (inout Builder) -> [String: Any]
    ) throws -> Object? {
      var builder = Builder()
      let root = make(&builder)
      return try NSKeyedUnarchiver.unarchivedObject(
        ofClass: type, from: builder.archive(root: root))
    }
    let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
    let recordID = CKRecord.ID(recordName: "n", zoneID: zoneID)
    #expect(try read(CKRecordZone.ID.self) { $0.zoneID("Z", "_o") } == zoneID)
    #expect(try read(CKRecord.ID.self) { $0.recordID("n", $0.zoneID("Z", "_o")) } == recordID)
    let reference = try read(CKRecord.Reference.self) {
      $0.reference($0.recordID("n", $0.zoneID("Z", "_o")), 1)
    }
    #expect(reference == CKRecord.Reference(recordID: recordID, action: .deleteSelf))
    let token = try read(CKServerChangeToken.self) {
      $0.add(["ChangeTokenData": $0.add(Data([9, 8]))], of: "CKServerChangeToken")
    }
    #expect(token == CKServerChangeToken(ChangeToken(bytes: [9, 8])))
    let zone = try read(CKRecordZone.self) {
      $0.add(["ZoneID": $0.zoneID("Z", "_o"), "Capabilities": $0.add(15)], of: "CKRecordZone")
    }
    #expect(zone?.zoneID == zoneID && zone?.capabilities.contains(.zoneWideSharing) == true)
  }

  /// Proves CS-20.
  @Test("A missing, dangling or wrong part of an archive is left out or makes the record nil")
  func damagedAppleArchivePartIsOmitted() throws {
    var builder = Builder()
    let top = builder.wholeRecord()
    let needed: Set<String> = ["RecordType", "RecordID"]
    let zoneID = builder.zoneID("Z", "_o")
    let wrong: [(String, Any?)] = [
      ("missing", nil), ("null", ["CF$UID": 0]), ("dangling", ["CF$UID": 9999]),
      ("another class", zoneID), ("an unknown class", builder.add([:], of: "CKUnknown")),
      ("no class", builder.add(["a": 1])), ("a number", 5), ("a plain text", "text"),
    ]
    for key in top.keys.sorted() {
      for (name, replacement) in wrong {
        var damaged = top
        damaged[key] = replacement
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: builder.archive(damaged))
        unarchiver.requiresSecureCoding = true
        let record = CKRecord(coder: unarchiver)
        let isFine = needed.contains(key) ? record == nil : record?.recordType == "Note"
        if !isFine { Issue.record("\(key): \(name) gave \(String(describing: record))") }
      }
    }
    let data = try builder.archive(top)
    for length in data.indices {
      let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data.prefix(length))
      if let unarchiver { #expect(CKRecord(coder: unarchiver) == nil) }
    }
  }
}
