/// A fast base64 encoder and decoder, with padding.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each character; 255 for invalid characters.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  /// Appends `source` as text.
  static func write(_ source: [UInt8], to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + (source.count + 2) / 3 * 4)
    alphabet.withUnsafeBufferPointer { alphabet in
      source.withUnsafeBufferPointer { source in
        var index = 0
        while index < source.count {
          let rest = source.count - index
          let second = rest > 1 ? UInt32(source[index + 1]) : 0
          let third = rest > 2 ? UInt32(source[index + 2]) : 0
          let group = UInt32(source[index]) << 16 | second << 8 | third
          bytes.append(alphabet[Int(group >> 18)])
          bytes.append(alphabet[Int(group >> 12 & 63)])
          bytes.append(rest > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
          bytes.append(rest > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
          index += 3
        }
      }
    }
  }

  /// Decodes text in the form that `write` produces; `nil` for any other text, which a more lenient
  /// decoder may still accept.
  static func read(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    guard text.count > 0 else { return [] }
    let padding =
      text[text.count - 1] != UInt8(ascii: "=")
      ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
    let length = text.count / 4 * 3 - padding
    var isGood = true
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { target, count in
      var index = 0
      values.withUnsafeBufferPointer { values in
        while index < text.count {
          var group: UInt32 = 0
          for place in index..<(index + 4) {
            let isPadding = place >= text.count - padding
            let value = isPadding ? 0 : values[Int(text[place])]
            if value == 255 { isGood = false }
            group = group << 6 | UInt32(value & 63)
          }
          for place in 0..<UInt32(3) {
            let byte = UInt8(truncatingIfNeeded: group >> (16 - 8 * place))
            if count < length {
              target[count] = byte
              count += 1
            } else if byte != 0 {
              isGood = false
            }
          }
          index += 4
        }
      }
    }
    return isGood ? bytes : nil
  }
}
