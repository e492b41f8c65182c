import Foundation

/// A day of the calendar that a puzzle belongs to; no moment and no time zone.
struct PuzzleDay: Hashable, Sendable {
  let year: Int
  let month: Int
  let day: Int

  /// The day, when there is such a day.
  init?(_ year: Int, _ month: Int, _ day: Int) {
    guard (1900...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// A day known to exist.
  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day as a calendar sees a moment.
  init(_ date: Date, _ calendar: Calendar) {
    let parts = Self.gregorian(in: calendar).dateComponents([.year, .month, .day], from: date)
    self.init(year: parts.year ?? 1970, month: parts.month ?? 1, day: parts.day ?? 1)
  }

  /// Noon of the day: the moment that stays on this day when the device crosses time zones.
  func noon(_ calendar: Calendar) -> Date? {
    Self.gregorian(in: calendar).date(
      from: DateComponents(year: year, month: month, day: day, hour: 12))
  }

  /// The number of the day, counted from 1970-01-01.
  var number: Int {
    // The year begins in March here, so that the leap day is its last.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day that lies `days` after this one.
  func adding(_ days: Int) -> PuzzleDay {
    let shifted = number + days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return PuzzleDay(
      year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * part + 2) / 5 + 1)
  }

  /// The day as `2026-11-03`.
  var text: String {
    func padded(_ value: Int, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }

  private static func gregorian(in calendar: Calendar) -> Calendar {
    var gregorian = Calendar(identifier: .gregorian)
    gregorian.timeZone = calendar.timeZone
    return gregorian
  }
}
