import Foundation
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
    guard bytes.count > 24, !isWhole else { return "\(size) \(bytes.hexadecimal)" }
    return "\(size) \(bytes.prefix(8).hexadecimal)..\(bytes.suffix(8).hexadecimal)"
  }

  /// A number with thousands separators.
  static func number(_ value: Int) -> String {
    value.formatted(.number.locale(Locale(identifier: "en_US")))
  }

  static func count(_ value: Int, _ one: String, _ many: String) -> String {
    "\(number(value)) \(value == 1 ? one : many)"
  }
}
