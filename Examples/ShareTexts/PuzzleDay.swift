import Foundation

/// A day of the calendar that a puzzle belongs to; no moment and no time zone.
struct PuzzleDay: Hashable, Sendable {
  /// The number of the day, counted from 1970-01-01.
  let number: Int
}

extension PuzzleDay {
  /// The day, when there is such a day.
  init?(_ year: Int, _ month: Int, _ day: Int) {
    let calendar = Self.gregorian(.gmt)
    let parts = DateComponents(year: year, month: month, day: day)
    guard (1900...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
      let date = calendar.date(from: parts), calendar.component(.day, from: date) == day
    else { return nil }
    number = Int(date.timeIntervalSince1970) / Self.seconds
  }

  /// The day as a calendar sees a moment.
  init(_ date: Date, _ calendar: Calendar) {
    let offset = TimeInterval(calendar.timeZone.secondsFromGMT(for: date))
    let days = (date.timeIntervalSince1970 + offset) / TimeInterval(Self.seconds)
    number = Int(exactly: days.rounded(.down)) ?? 0
  }

  /// Reads a date: `2026-11-03`, `9.7.2024` (day first), `11/3/2026` (month first), or one such as
  /// `Nov 3, 2026`.
  init?(_ text: String) {
    let months = [
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    let month = months.firstIndex(of: String(text.lowercased().prefix(3)))
    let numbers =
      (month.map { [$0 + 1] } ?? [])
      + text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    if text.contains("-") {
      self.init(numbers[0], numbers[1], numbers[2])
    } else if text.contains(".") {
      self.init(numbers[2], numbers[1], numbers[0])
    } else {
      self.init(numbers[2], numbers[0], numbers[1])
    }
  }

  /// Noon of the day: the moment that stays on this day when the device crosses time zones.
  func noon(_ calendar: Calendar) -> Date? {
    var parts = Self.gregorian(.gmt).dateComponents([.year, .month, .day], from: start)
    parts.hour = 12
    return Self.gregorian(calendar.timeZone).date(from: parts)
  }

  /// The day that lies `days` after this one.
  func adding(_ days: Int) -> PuzzleDay { PuzzleDay(number: number + days) }

  /// The day as `2026-11-03`.
  var text: String { start.formatted(.iso8601.year().month().day()) }

  private static let seconds = 86_400

  /// The moment when the day begins in Greenwich.
  private var start: Date { Date(timeIntervalSince1970: TimeInterval(number * Self.seconds)) }

  private static func gregorian(_ zone: TimeZone) -> Calendar {
    var gregorian = Calendar(identifier: .gregorian)
    gregorian.timeZone = zone
    return gregorian
  }
}
