import CloudSync
import Foundation
import Records

/// What it costs to keep what the system knows of a record, as every app does for every record.
enum SystemFieldsBenchmarks {
  private static let count = 500

  /// P8: system fields to bytes, against an archiver that is given the same fields one by one.
  static func all() -> [Benchmark] {
    let records = sample()
    let faces = records.map { CKRecord($0) }
    let archiver = Side(
      "NSKeyedArchiver, eleven keys", operations: count, setUp: {},
      body: { _ in for record in records { keep(archived(record)) } })
    return [
      Benchmark(
        name: "P8 system fields to bytes, directly", goal: 0.02,
        subject: Side(
          "ArchivedBytes", operations: count, setUp: {},
          body: { _ in
            for face in faces {
              var record = face.value
              record.fields = Fields()
              keep(
                ArchivedBytes.bytes { writer in
                  writer.write(false)
                  writer.write(record)
                })
            }
          }),
        reference: archiver, rounds: 11),
      Benchmark(
        name: "P8 system fields to bytes, through an NSCoder", goal: 0.5,
        subject: Side(
          "encodeSystemFields(with:)", operations: count, setUp: {},
          body: { _ in
            for face in faces {
              let coder = NSKeyedArchiver(requiringSecureCoding: true)
              face.encodeSystemFields(with: coder)
              coder.finishEncoding()
              keep(coder.encodedData)
            }
          }),
        reference: archiver, rounds: 11),
    ]
  }

  private static func sample() -> [Record] {
    let zone = ZoneID(name: "Notes")
    return (0..<count).map { number in
      let stamp = RecordStamp(
        time: Timestamp(secondsSinceReferenceDate: 700_000_000 + Double(number)),
        user: UserID("_3f2a9c51d7e84b0c9a6d1f2e3c4b5a69"), device: "phone")
      return Record(
        id: RecordID(name: PendingSample.name(number), zone: zone), type: "Note",
        changeTag: ChangeTag("t\(number)"), fields: ["text": .string("Bread, milk, apples.")],
        parent: RecordID(name: PendingSample.name(number + count), zone: zone), created: stamp,
        modified: stamp)
    }
  }

  private static func archived(_ record: Record) -> Data {
    let coder = NSKeyedArchiver(requiringSecureCoding: true)
    func date(_ stamp: RecordStamp?) -> NSDate {
      NSDate(timeIntervalSinceReferenceDate: stamp?.time.secondsSinceReferenceDate ?? 0)
    }
    let texts: [(String, String?)] = [
      ("RecordName", record.id.name), ("ZoneName", record.id.zone.name),
      ("ZoneOwner", record.id.zone.owner), ("RecordType", record.type),
      ("ETag", record.changeTag?.rawValue), ("Parent", record.parent?.name),
      ("CreatorUser", record.created?.user.rawValue),
      ("LastModifiedUser", record.modified?.user.rawValue),
      ("ModifiedByDevice", record.modified?.device),
    ]
    for (key, text) in texts { coder.encode(text.map { $0 as NSString }, forKey: key) }
    coder.encode(date(record.created), forKey: "RecordCtime")
    coder.encode(date(record.modified), forKey: "RecordMtime")
    coder.finishEncoding()
    return coder.encodedData
  }
}
