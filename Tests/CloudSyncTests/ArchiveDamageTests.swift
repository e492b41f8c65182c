import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

@Suite("Archives: damage in the keyed archive around our bytes")
struct ArchiveDamageTests {
  @Test("one wrong bit anywhere in a record's archive gives nil, an error or the record itself")
  func bits() throws {
    let record = CKRecord(
      recordType: "Note", recordID: .init(recordName: "n", zoneID: .init(zoneName: "Z")))
    record["text"] = "content"
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encode(with: archiver)
    archiver.finishEncoding()
    let data = archiver.encodedData
    for index in data.indices {
      for bit in 0..<8 {
        var damaged = data
        damaged[index] ^= 1 << UInt8(bit)
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: damaged),
          let decoded = CKRecord(coder: unarchiver)
        else { continue }
        if decoded.value != record.value { Issue.record("bit \(bit) of byte \(index) went unseen") }
      }
      guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data.prefix(index)) else {
        continue
      }
      if CKRecord(coder: unarchiver) != nil { Issue.record("cut at \(index) went unseen") }
    }
  }

  @Test("a damaged root object is an error, not a trap")
  func roots() throws {
    func data(_ object: any NSObject & NSSecureCoding) throws -> Data {
      try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }
    let token = CKServerChangeToken(ChangeToken(bytes: [1, 2, 3]))
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: Data([1, 2, 3]))
    }
    var damaged = try data(token)
    let range = try #require(damaged.range(of: Data([3, 1, 2, 3])), "the token's bytes are there")
    damaged[range.upperBound - 1] ^= 1
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: damaged)
    }
  }
}
