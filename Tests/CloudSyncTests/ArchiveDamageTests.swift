import CloudProtocol
import Foundation
import Records
import Testing

@testable import CloudSync

#if canImport(ObjectiveC)
  // Foundation's own unarchiver tolerates damage there.
  private typealias UnarchivedObject = NSObject & NSSecureCoding
#else
  private typealias UnarchivedObject = _CKArchivedObject
#endif

@Suite("Archives: damage in the keyed archive around our bytes")
struct ArchiveDamageTests {
  /// Proves CS-20.
  @Test("A wrong bit in a record's bytes, or a cut anywhere in its archive, gives nil or an error")
  func damagedRecordBytesGiveNilOrError() throws {
    let record = CKRecord(
      recordType: "Note", recordID: .init(recordName: "n", zoneID: .init(zoneName: "Z")))
    record["text"] = "content"
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encode(with: archiver)
    archiver.finishEncoding()
    let data = archiver.encodedData
    // Only our own bytes: damage around them can crash Foundation's reader on Linux before any
    // code of ours runs.
    let coder = BytesCoder()
    record.encode(with: coder)
    let ours = try #require(data.range(of: coder.data))
    for index in ours {
      for bit in 0..<8 {
        var damaged = data
        damaged[index] ^= 1 << UInt8(bit)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: damaged)
        if CKRecord(coder: unarchiver) != nil { Issue.record("bit \(bit) of byte \(index)") }
      }
    }
    for index in data.indices {
      guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data.prefix(index)) else {
        continue
      }
      if CKRecord(coder: unarchiver) != nil { Issue.record("cut at \(index) went unseen") }
    }
  }

  private func data(_ object: any NSObject & NSSecureCoding) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  /// The library's classes that no other test of this suite damages.
  private static var objects: [any NSObject & NSSecureCoding & UnarchivedObject] {
    let identity = UserIdentity(user: UserID("_u"), givenName: "Ann")
    let participant = ShareParticipant(id: "p", identity: identity)
    return [
      CKQuery(recordType: "Note", predicate: NSPredicate(value: true)),
      CKQueryCursor(QueryRecords(query: Query(recordType: "Note"), zone: nil)),
      CKShareParticipant(participant), CKUserIdentity(identity),
      CKUserIdentityLookupInfo(emailAddress: "a@b.org"), CKOperationGroup(),
      CKFetchRecordZoneChangesConfiguration(),
      CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z"),
      CKNotificationInfo(alertBody: "a"),
    ]
  }

  /// Proves CS-20.
  @Test("Every object whose bytes are damaged gives an error as a root, and nil under a key")
  func damagedObjectsAreRefused() throws {
    func check<Object: NSObject & NSSecureCoding & UnarchivedObject>(_ object: Object) throws {
      let coder = BytesCoder()
      object.encode(with: coder)
      func damaged(_ data: Data) throws -> Data {
        var data = data
        let range = try #require(data.range(of: coder.data), "\(Object.self)")
        data[range.upperBound - 1] ^= 1
        return data
      }
      let whole = try data(object)
      _ = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: whole), "\(object)")
      #expect(throws: (any Error).self, "\(Object.self)") {
        try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: damaged(whole))
      }
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      archiver.encode(object, forKey: "object")
      archiver.finishEncoding()
      let reader = try NSKeyedUnarchiver(forReadingFrom: damaged(archiver.encodedData))
      #expect(reader.decodeObject(of: Object.self, forKey: "object") == nil, "\(Object.self)")
    }
    for object in Self.objects { try check(object) }
  }

  /// Proves CS-20.
  @Test("A root object that is damaged or of another class gives an error, not a trap")
  func damagedRootObjectThrowsError() throws {
    let token = CKServerChangeToken(ChangeToken(bytes: [1, 2, 3]))
    var damaged = try data(token)
    let range = try #require(damaged.range(of: Data([3, 1, 2, 3])), "the token's bytes are there")
    damaged[range.upperBound - 1] ^= 1
    let table: [(String, Data)] = [
      ("another class", try data(CKRecordZone.ID.default)), ("damage", damaged),
      ("no archive", Data([1, 2, 3])), ("nothing", Data()),
      ("a list", try data([token] as NSArray)),
      ("a text", try data("text" as NSString)),
    ]
    for (name, data) in table {
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: CKServerChangeToken.self, from: data)
      if token != nil { Issue.record("\(name) was read") }
      let list = try? NSKeyedUnarchiver.unarchivedArrayOfObjects(
        ofClass: CKServerChangeToken.self, from: data)
      if (list != nil) != (name == "a list") { Issue.record("\(name) as a list") }
    }
    let data = try data(token)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
    #expect(read == token)
  }

  @Test("An object under a key is nil when it is missing, damaged or of another class")
  func damagedKeyedObjectIsNil() throws {
    let id = CKRecord.ID(recordName: "n")
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(id, forKey: "id")
    archiver.encode(CKRecord(recordType: "T", recordID: id), forKey: "record")
    archiver.encode("text" as NSString, forKey: "text")
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(unarchiver.decodeObject(of: CKRecord.ID.self, forKey: "absent") == nil)
    #expect(unarchiver.decodeObject(of: CKRecord.ID.self, forKey: "id") == id)
    #expect(unarchiver.decodeObject(of: CKRecord.self, forKey: "record")?.recordID == id)
    for key in ["text", "record"] {
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
      #expect(unarchiver.decodeObject(of: CKServerChangeToken.self, forKey: key) == nil)
    }
  }

  @Test("Archived lists and dictionaries of the library's objects are read")
  func archivedCollectionsAreRead() throws {
    let ids = ["a", "b"].map { CKRecord.ID(recordName: $0) }
    let list = try NSKeyedUnarchiver.unarchivedArrayOfObjects(
      ofClass: CKRecord.ID.self, from: data(ids as NSArray))
    #expect(list == ids)
    let tokens = [
      CKRecordZone.ID(zoneName: "Z"): CKServerChangeToken(ChangeToken(bytes: [1]))
    ]
    let dictionary = try NSKeyedUnarchiver.unarchivedDictionary(
      ofKeyClass: CKRecordZone.ID.self, objectClass: CKServerChangeToken.self,
      from: data(tokens as NSDictionary))
    #expect(dictionary == tokens)
  }
}

/// Takes the bytes that a record writes when there are no keys.
private final class BytesCoder: NSCoder {
  var data = Data()

  override var allowsKeyedCoding: Bool { false }
  override func encode(_ data: Data) { self.data = data }
}
