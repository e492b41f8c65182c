/// CRC-32 (the IEEE polynomial, reflected), which tells damaged bytes from whole ones.
///
/// It guards against accidents, not against people.
public struct Checksum: Sendable {
  /// Eight tables of 256 behind each other: the first takes one byte on, the others a byte with
  /// one to seven zeros after it.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = (0..<256).map { index in
      var value = UInt32(index)
      for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
      return value
    }
    for index in 256..<2048 {
      let before = tables[index - 256]
      tables.append(tables[Int(before & 0xff)] ^ (before >> 8))
    }
    return tables
  }()

  private var state: UInt32 = 0xffff_ffff

  /// The checksum of nothing so far.
  public init() {}

  /// Takes in more bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    let isDone: Void? = bytes.withContiguousStorageIfAvailable { update($0) }
    guard isDone == nil else { return }
    for byte in bytes { withUnsafePointer(to: byte) { update(.init(start: $0, count: 1)) } }
  }

  /// Eight bytes at a time, and what is left one by one.
  private mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) {
    let raw = UnsafeRawBufferPointer(bytes)
    state = Checksum.tables.withUnsafeBufferPointer { tables in
      var state = state
      var offset = 0
      while offset + 8 <= raw.count {
        let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
        let (low, high) = (
          UInt32(truncatingIfNeeded: word) ^ state, UInt32(truncatingIfNeeded: word >> 32)
        )
        let first = tables[Int(1792 + (low & 0xff))] ^ tables[Int(1536 + (low >> 8 & 0xff))]
        let second = tables[Int(1280 + (low >> 16 & 0xff))] ^ tables[Int(1024 + (low >> 24))]
        let third = tables[Int(768 + (high & 0xff))] ^ tables[Int(512 + (high >> 8 & 0xff))]
        let fourth = tables[Int(256 + (high >> 16 & 0xff))] ^ tables[Int(high >> 24)]
        state = first ^ second ^ third ^ fourth
        offset += 8
      }
      while offset < raw.count {
        state = tables[Int((state ^ UInt32(raw[offset])) & 0xff)] ^ (state >> 8)
        offset += 1
      }
      return state
    }
  }

  /// The checksum of what was taken in.
  public var value: UInt32 { state ^ 0xffff_ffff }

  /// The checksum of `bytes`.
  public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }
}
