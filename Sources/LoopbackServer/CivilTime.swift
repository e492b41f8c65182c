package import Records

/// A date and a time of day in UTC, in the Gregorian calendar.
package struct CivilTime: Hashable, Sendable {
  /// The year, from 0 to 9999.
  package let year: Int
  /// The month, from 1 to 12.
  package let month: Int
  /// The day of the month, from 1 to 31.
  package let day: Int
  /// The number of days after 1 January 1970, negative before it.
  package let dayNumber: Int
  /// The milliseconds after midnight.
  package let milliseconds: Int

  /// Converts a time, rounded down to milliseconds; `nil` before the year 0 and after 9999.
  ///
  /// Years are counted from March, so that a leap day is the last day of its year; 146,097 days are
  /// 400 years.
  package init?(_ time: Timestamp) {
    let seconds = time.secondsSinceReferenceDate
    guard seconds > -63_000_000_000, seconds < 252_423_993_600 else { return nil }
    let dayLength = 86_400_000
    // The reference date is 730,791 days after the first of March of the year 0.
    let sinceStart = Int((seconds * 1000).rounded(.down)) + 730_791 * dayLength
    let start = sinceStart.quotientAndRemainder(dividingBy: dayLength)
    let (era, dayOfEra) = start.quotient.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    dayNumber = start.quotient - 719_468
    milliseconds = start.remainder
  }

  /// The hours, minutes and seconds, such as `08:49:37`.
  package var clock: String {
    [milliseconds / 3_600_000, milliseconds / 60_000 % 60, milliseconds / 1000 % 60]
      .map { CivilTime.padded($0, 2) }.joined(separator: ":")
  }

  /// `value` with at least `length` digits.
  package static func padded(_ value: Int, _ length: Int) -> String {
    let digits = "\(value)"
    return String(repeating: "0", count: max(0, length - digits.count)) + digits
  }
}
