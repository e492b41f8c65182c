/// SHA-256, by which the content of files is named.
///
/// Written out because nothing with a hash function ships with every toolchain. Source: FIPS 180-4.
public struct SHA256: Sendable {
  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]

  private var state = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19)
  /// What came after the last whole block of 64 bytes.
  private var rest: [UInt8] = []
  private var byteCount: UInt64 = 0

  /// The hash of nothing so far.
  public init() { rest.reserveCapacity(128) }

  /// Takes in more bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ take($0) }) == nil {
      Array(bytes).withUnsafeBufferPointer { take($0) }
    }
  }

  /// The 32 bytes of the hash of all that was taken in.
  public func digest() -> [UInt8] {
    var last = self
    last.rest = []
    var padded = [UInt8](repeating: 0, count: rest.count < 56 ? 64 : 128)
    padded.replaceSubrange(..<rest.count, with: rest)
    padded[rest.count] = 0x80
    let bitCount = byteCount &* 8
    for place in 0..<8 {
      padded[padded.count - 1 - place] = UInt8(truncatingIfNeeded: bitCount >> UInt64(place * 8))
    }
    padded.withUnsafeBufferPointer { bytes in
      last.mix(bytes, from: 0, blocks: bytes.count / 64)
    }
    var digest = [UInt8](repeating: 0, count: 32)
    for place in 0..<32 {
      digest[place] = UInt8(truncatingIfNeeded: last.state[place / 4] >> UInt32(24 - place % 4 * 8))
    }
    return digest
  }

  /// The 32 bytes of the hash of `bytes`.
  package static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  /// The hash of `bytes` as 64 lower-case hexadecimal digits.
  public static func hexadecimal(of bytes: some Sequence<UInt8>) -> String {
    var hash = SHA256()
    hash.update(bytes)
    return hash.hexadecimalDigest
  }

  /// The hash of all that was taken in as 64 lower-case hexadecimal digits.
  package var hexadecimalDigest: String { digest().hexadecimal }

  private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    var start = 0
    if !rest.isEmpty {
      start = min(64 - rest.count, bytes.count)
      rest.append(contentsOf: bytes[..<start])
      guard rest.count == 64 else { return }
      let block = rest
      block.withUnsafeBufferPointer { mix($0, from: 0, blocks: 1) }
      rest.removeAll(keepingCapacity: true)
    }
    let blocks = (bytes.count - start) / 64
    mix(bytes, from: start, blocks: blocks)
    start += blocks * 64
    rest.append(contentsOf: bytes[start...])
  }

  /// Mixes blocks of 64 bytes into the state.
  private mutating func mix(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, blocks: Int) {
    guard blocks > 0 else { return }
    // Plain memory and no calls within the loops: unoptimised, all else is ten times slower.
    SHA256.constants.withUnsafeBufferPointer { constants in
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
        for block in 0..<blocks {
          SHA256.expand(bytes, at: start + block * 64, into: schedule)
          SHA256.compress(schedule, constants, into: &state)
        }
      }
    }
  }

  private static func expand(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int,
    into schedule: UnsafeMutableBufferPointer<UInt32>
  ) {
    var index = 0
    while index < 16 {
      let at = start + index * 4
      let high = UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16
      schedule[index] = high | UInt32(bytes[at + 2]) << 8 | UInt32(bytes[at + 3])
      index += 1
    }
    while index < 64 {
      let far = schedule[index - 15]
      let near = schedule[index - 2]
      let first = (far &>> 7 | far &<< 25) ^ (far &>> 18 | far &<< 14) ^ (far &>> 3)
      let second = (near &>> 17 | near &<< 15) ^ (near &>> 19 | near &<< 13) ^ (near &>> 10)
      schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
      index += 1
    }
  }

  private static func compress(
    _ schedule: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>,
    into state: inout SIMD8<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    var index = 0
    while index < 64 {
      let sum = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sum &+ choice &+ constants[index] &+ schedule[index]
      let other = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = d &+ first
      d = c
      c = b
      b = a
      a = first &+ other &+ majority
      index += 1
    }
    state &+= SIMD8(a, b, c, d, e, f, g, h)
  }
}

extension Sequence<UInt8> {
  /// The bytes as lower-case hexadecimal digits, two for each.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
