import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

@Suite("Archives: damage in the keyed archive around our bytes")
struct ArchiveDamageTests {
  @Test("a wrong bit in a record's bytes, or a cut anywhere in its archive, gives nil or an error")
  func bits() throws {
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

/// Takes the bytes that a record writes when there are no keys.
private final class BytesCoder: NSCoder {
  var data = Data()

  override var allowsKeyedCoding: Bool { false }
  override func encode(_ data: Data) { self.data = data }
}
