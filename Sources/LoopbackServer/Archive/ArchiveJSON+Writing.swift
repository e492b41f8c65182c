extension ArchiveJSON {
  /// The value on one line, without spaces, everything but control and line-ending characters as
  /// it is.
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .flag(let flag): bytes += (flag ? "true" : "false").utf8
    case .number(let digits): bytes += digits.utf8
    case .text(let text): ArchiveJSON.write(text, to: &bytes)
    case .list(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        ArchiveJSON.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      var index = 0
      while index < source.count {
        let byte = source[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          bytes.append(UInt8(ascii: "\\"))
          bytes.append(byte)
        case 0x0a: bytes += "\\n".utf8
        case 0x09: bytes += "\\t".utf8
        case 0..<0x20, 0x7f: escape(UInt16(byte), to: &bytes)
        case 0xc2 where source[index + 1] == 0x85:
          // Some readers end a line at these three.
          escape(0x85, to: &bytes)
          index += 1
        case 0xe2 where source[index + 1] == 0x80 && source[index + 2] & 0xfe == 0xa8:
          escape(0x2028 + UInt16(source[index + 2] & 1), to: &bytes)
          index += 2
        default: bytes.append(byte)
        }
        index += 1
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
    let digits = String(unit, radix: 16)
    bytes += "\\u".utf8
    bytes += String(repeating: "0", count: 4 - digits.count).utf8
    bytes += digits.utf8
  }
}
