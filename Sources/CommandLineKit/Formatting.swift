package import Foundation

/// `text` in quotes, shortened, without control characters.
package func quoted(_ text: String) -> String {
  let plain = printable(text)
  return "\"\(plain.count > 60 ? plain.prefix(60) + "…" : plain[...])\""
}

/// `text` on one line, with control characters shown as blanks.
package func printable(_ text: some StringProtocol) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: " "
        default: scalar
        }
      }))
}

/// A time in UTC with milliseconds, such as `2026-11-21T08:15:00.250Z`.
package func timestamp(_ date: Date) -> String {
  date.formatted(
    Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt))
}

/// A number with its noun: `1 tab`, `2 tabs`, `2 entries`.
package func count(_ number: Int, _ noun: String) -> String {
  let plural = noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s"
  return "\(number) \(number == 1 ? noun : String(plural))"
}

/// A byte count in a readable unit.
package func size(_ bytes: Int) -> String {
  switch bytes {
  case ..<1_000: "\(bytes) B"
  case ..<1_000_000: "\((Double(bytes) / 100).rounded() / 10) kB"
  default: "\((Double(bytes) / 100_000).rounded() / 10) MB"
  }
}
