import Foundation

/// A range of IP addresses, such as `10.0.0.0/8`, `fd00::/8` or one address.
package struct AddressRange: Hashable, Sendable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Parses an address, or an address and the number of bits that all addresses of the range share;
  /// `nil` for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = Self.address(String(parts[0])) else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      bits = bytes.count * 8
      return
    }
    guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
    self.bits = bits
  }

  private static func address(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }

  /// Whether the range contains an address of 4 or 16 bytes.
  ///
  /// An IPv4 address can have the form of IPv6, as on a socket for both.
  package func contains(_ address: [UInt8]) -> Bool {
    let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    let isMapped = address.count == 16 && bytes.count == 4 && address.starts(with: mapped)
    let address = isMapped ? Array(address.suffix(4)) : address
    guard address.count == bytes.count else { return false }
    return zip(address, bytes).enumerated().allSatisfy { index, pair in
      let shared = min(max(bits - index * 8, 0), 8)
      return (pair.0 ^ pair.1) >> (8 - UInt8(shared)) == 0
    }
  }
}
