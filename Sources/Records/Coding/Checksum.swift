/// CRC-32 (the IEEE polynomial, reflected), which tells damaged bytes from whole ones.
///
/// It guards against accidents, not against people.
public struct Checksum: Sendable {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    return value
  }

  private var state: UInt32 = 0xffff_ffff

  /// The checksum of nothing so far.
  public init() {}

  /// Takes in more bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    let table = Checksum.table
    for byte in bytes {
      state = table[Int((state ^ UInt32(byte)) & 0xff)] ^ (state >> 8)
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
