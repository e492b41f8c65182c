import Records

/// The cost of the binary form of records.
enum RecordBenchmarks {
  private static let count = 1_000

  /// Writing and reading 1,000 records of a note's size, against copying the same bytes.
  static func all() -> [Benchmark] {
    let records = sample()
    let bytes = encoded(records)
    let copy = Side("copying the bytes", operations: count, setUp: { [UInt8]() }) { copied in
      copied = [UInt8](unsafeUninitializedCapacity: bytes.count) { target, initialized in
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(target).copyMemory(from: $0) }
        initialized = bytes.count
      }
    }
    return [
      Benchmark(
        name: "write a record", goal: nil,
        subject: Side("ByteWriter", operations: count, setUp: { [UInt8]() }) { written in
          written = encoded(records)
        }, reference: copy),
      Benchmark(
        name: "read a record", goal: nil,
        subject: Side("ByteReader", operations: count, setUp: { [Record]() }) { read in
          var reader = ByteReader(bytes)
          read = try reader.list { (reader) throws(ByteFormatError) in try reader.record() }
          try reader.finish()
        }, reference: copy),
    ]
  }

  private static func encoded(_ records: [Record]) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(list: records) { $0.write($1) }
    return writer.bytes
  }

  private static func sample() -> [Record] {
    let zone = ZoneID(name: "Notes")
    return (0..<count).map { number in
      let stamp = RecordStamp(
        time: Timestamp(secondsSinceReferenceDate: 700_000_000 + Double(number)),
        user: UserID("_3f2a9c51d7"), device: "phone")
      return Record(
        id: RecordID(name: "note-\(number)", zone: zone), type: "Note",
        changeTag: ChangeTag("t\(number)"),
        fields: [
          "text": .string(String(repeating: "Bread, milk, apples. ", count: 10)),
          "position": .int64(Int64(number)), "isDone": .int64(0),
          "lastModified": .date(stamp.time),
        ], created: stamp, modified: stamp)
    }
  }
}
