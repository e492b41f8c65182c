import Records
import Testing

/// The binary form of records: what goes in comes out, and nothing else gets in.
struct RecordBytesTests {
  private func read(_ bytes: [UInt8]) throws -> Record {
    var reader = ByteReader(bytes)
    let record = try reader.record()
    try reader.finish()
    return record
  }

  @Test("A record is decoded bit for bit and encoded as the same bytes again")
  func recordBytesRoundTripExactly() throws {
    for record in [Samples.record, Samples.bare] {
      let bytes = Samples.bytes(record)
      let back = try read(bytes)
      #expect(back == record)
      #expect(Samples.bytes(back) == bytes)
    }
    for value in Samples.values {
      var record = Samples.bare
      record.fields["v"] = Field(value)
      let back = try read(Samples.bytes(record))
      #expect(back == record, "\(value)")
      #expect(back.hashValue == record.hashValue, "\(value)")
    }
  }

  @Test("Similar values stay distinct: NFC and NFD, 0 and -0, and different NaN values")
  func similarValuesStayDistinct() {
    for (first, one) in Samples.values.enumerated() {
      for (second, other) in Samples.values.enumerated() {
        #expect((one == other) == (first == second), "\(one) \(other)")
      }
    }
  }

  @Test("No bit flip, truncation or addition traps, and a decoded result is a valid record")
  func damagedRecordBytesNeverTrap() throws {
    let bytes = Samples.bytes(Samples.record)
    var refused = 0
    for index in bytes.indices {
      for bit in 0..<8 as Range<UInt8> {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        do {
          let record = try read(damaged)
          let again = try read(Samples.bytes(record))
          if again != record { Issue.record("byte \(index) bit \(bit) reads as two records") }
        } catch is ByteFormatError {
          refused += 1
        }
      }
      #expect(throws: ByteFormatError.self) { try read(Array(bytes[..<index])) }
    }
    #expect(refused > bytes.count, "some damage shows by its form alone")
    #expect(throws: ByteFormatError.self) { try read(bytes + [0]) }
  }

  /// Proves I23.
  @Test("Random bytes and damage in many positions never trap")
  func randomRecordBytesNeverTrap() throws {
    var state: UInt64 = 42
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    let whole = Samples.bytes(Samples.record)
    for round in 0..<3000 {
      var bytes =
        round % 2 == 0
        ? whole : (0..<Int(next() % 200)).map { _ in UInt8(truncatingIfNeeded: next()) }
      if bytes.isEmpty { continue }
      for _ in 0...(next() % 8) {
        bytes[Int(next()) % bytes.count] = UInt8(truncatingIfNeeded: next())
      }
      do { _ = try read(bytes) } catch is ByteFormatError {}
    }
  }

  @Test("False lengths are detected before memory is allocated for them")
  func falseLengthsAreRefusedBeforeAllocation() {
    let hostile: [[UInt8]] = [
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],  // 2^64 - 1
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],  // more than 64 bits
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],  // too long
      [0x81, 0x00, 0x61],  // longer than it needs to be
      [0xff, 0xff, 0xff, 0xff, 0x7f], [0x05, 0x61], [0x01, 0xff], [0x02, 0xc3, 0x28], [],
    ]
    for bytes in hostile {
      var reader = ByteReader(bytes)
      #expect(throws: ByteFormatError.self, "\(bytes)") { try reader.string() }
    }
    var deep = ByteReader(Array(repeating: [9, 1] as [UInt8], count: 50).flatMap { $0 })
    #expect(throws: ByteFormatError.self) { try deep.fieldValue() }
  }

  @Test("Numbers of every variable length are read back, and the checksum matches its known value")
  func variableLengthNumbersRoundTrip() throws {
    var value: UInt64 = 1
    for shift in 0..<64 {
      for number in [value, value - 1, value | 1] {
        var writer = ByteWriter()
        writer.write(variable: number)
        writer.write(fixed: number)
        writer.write(fixed: UInt32(truncatingIfNeeded: number))
        var reader = ByteReader(writer.bytes)
        #expect(try reader.variable() == number, "2^\(shift)")
        #expect(try reader.fixed64() == number)
        #expect(try reader.fixed32() == UInt32(truncatingIfNeeded: number))
        try reader.finish()
      }
      value = value &<< 1
    }
    #expect(Checksum.of("123456789".utf8) == 0xcbf4_3926)
    #expect(Checksum.of([]) == 0)
  }
}
