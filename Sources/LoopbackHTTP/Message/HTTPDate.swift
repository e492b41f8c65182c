import LoopbackServer
import Records

/// The date format of HTTP fields, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Source: RFC 9110, section 5.6.7.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Formats `time`; `nil` before the year 1970 and after 9999.
  static func text(_ time: Timestamp) -> String? {
    guard let civil = CivilTime(time), civil.dayNumber >= 0 else { return nil }
    let date = "\(CivilTime.padded(civil.day, 2)) \(months[civil.month - 1]) \(civil.year)"
    return "\(days[civil.dayNumber % 7]), \(date) \(civil.clock) GMT"
  }
}
