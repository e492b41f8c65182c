import Foundation
import SimulationSupport

extension DeviceSetting {
  /// A word that only people of `account` write, so that it can be searched for elsewhere.
  static func mark(of account: String) -> String { "\(account)SecretWord" }

  /// A short text of this account, in the spellings that real texts have.
  func text(_ random: inout SeededRandom) -> String {
    let parts = [
      "caf\u{E9}", "cafe\u{301}", "\u{1F9E9}", "a\nb", "\"quoted\"", "\\", "\u{FEFF}", "读书", "",
      "x/y", "\u{0}\u{1F}", "  ", "\u{200D}", "0",
    ]
    return "\(Self.mark(of: account)) \(random.below(50)) \(random.pick(parts))"
  }
}

extension SeededRandom {
  /// One of an unordered collection's keys, the same in every run.
  mutating func pick<Value>(keyOf items: [String: Value]) -> String? {
    items.isEmpty ? nil : items.keys.sorted()[below(items.count)]
  }
}

/// A line that shows every byte of a text.
func visible(_ fields: [String]) -> String {
  fields.map { field in
    String(
      field.unicodeScalars.flatMap { $0.escaped(asASCII: true).unicodeScalars.map(Character.init) })
  }.joined(separator: "|")
}

extension Date {
  /// The date to the bit.
  var bits: String { String(timeIntervalSinceReferenceDate.bitPattern, radix: 16) }
}
