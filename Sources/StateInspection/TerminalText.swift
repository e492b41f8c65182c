import Records

/// Formatting of names and numbers for output in a terminal.
enum TerminalText {
  /// `name` on one line, with control and invisible characters escaped.
  static func line(_ name: String) -> String {
    var line = ""
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
        .privateUse:
        line += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// `name` as a part of a path, quoted if it would be ambiguous.
  static func part(_ name: String) -> String {
    let line = line(name)
    let needsQuotes = line.unicodeScalars.contains { scalar in
      scalar == "/" || scalar == "\"" || scalar == "\\" || scalar.properties.isWhitespace
    }
    guard needsQuotes || line.isEmpty else { return line }
    var quoted = "\""
    for scalar in name.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted += TerminalText.line(String(scalar))
    }
    return quoted + "\""
  }

  static func zone(_ zone: ZoneID) -> String {
    zone.owner == ZoneID.currentOwner
      ? part(zone.name) : "\(part(zone.owner))/\(part(zone.name))"
  }

  static func record(_ record: RecordID) -> String {
    "\(zone(record.zone))/\(part(record.name))"
  }

  /// The size and the bytes of a token; the middle of a long one is omitted.
  static func token(_ bytes: [UInt8], isWhole: Bool = false) -> String {
    let size = count(bytes.count, "byte", "bytes")
    guard !bytes.isEmpty else { return size }
    guard bytes.count > 24, !isWhole else { return "\(size) \(hex(bytes))" }
    return "\(size) \(hex(bytes.prefix(8)))..\(hex(bytes.suffix(8)))"
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xf)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A number with thousands separators.
  static func number(_ value: Int) -> String {
    let digits = Array(String(value.magnitude))
    var text = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  static func count(_ value: Int, _ one: String, _ many: String) -> String {
    "\(number(value)) \(value == 1 ? one : many)"
  }
}
