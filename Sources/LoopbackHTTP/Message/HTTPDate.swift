import Records

/// The date format of HTTP fields, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Source: RFC 9110, section 5.6.7.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// Seconds from 1970 to 2001, the reference date of `Timestamp`.
  private static let epoch: Double = 978_307_200

  /// Formats `time`; `nil` before the year 1970 and after 9999.
  static func text(_ time: Timestamp) -> String? {
    let seconds = (time.secondsSinceReferenceDate + epoch).rounded(.down)
    guard seconds >= 0, seconds < 253_402_300_800 else { return nil }
    let (day, second) = Int(seconds).quotientAndRemainder(dividingBy: 86_400)
    let (year, month, date) = civil(day)
    return "\(days[day % 7]), \(two(date)) \(months[month - 1]) \(year) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  /// The year, month and day of the month for a number of days after 1 January 1970.
  ///
  /// Counted from March of the year 0, so that a leap day is the last day of its year; 146,097 days
  /// are 400 years.
  private static func civil(_ day: Int) -> (Int, Int, Int) {
    let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
