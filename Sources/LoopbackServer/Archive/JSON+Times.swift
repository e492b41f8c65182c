import Records
import WebServices

extension JSON {
  /// A time: readable in UTC to the millisecond, and the exact seconds, which are authoritative.
  static func time(_ time: Timestamp) -> JSON {
    let seconds = time.secondsSinceReferenceDate
    return .members([
      "utc": civil(seconds).map { .string($0) }, "seconds": .double(seconds),
    ])
  }

  /// Date and time of day; `nil` for times before the year 0 and after 9999.
  private static func civil(_ seconds: Double) -> String? {
    guard seconds > -63_000_000_000, seconds < 252_000_000_000 else { return nil }
    let milliseconds = Int64((seconds * 1000).rounded(.down))
    let dayLength: Int64 = 86_400_000
    // The reference date is 730,791 days after the first of March of the year 0.
    let day = floorDivided(milliseconds, by: dayLength)
    let rest = milliseconds - day * dayLength
    let (year, month, dayOfMonth) = civil(day: day + 730_791)
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2) + "T"
      + padded(rest / 3_600_000, 2) + ":" + padded(rest / 60_000 % 60, 2) + ":"
      + padded(rest / 1000 % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
  }

  /// The date `day` days after the first of March of the year 0 in the Gregorian calendar.
  ///
  /// Years are counted from March, so that the leap day is a year's last.
  private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let era = floorDivided(day, by: 146_097)
    let dayOfEra = day - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (
      era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    )
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  private static func padded(_ value: Int64, _ length: Int) -> String {
    let digits = "\(value)"
    return String(repeating: "0", count: max(0, length - digits.count)) + digits
  }
}

extension ArchiveObject {
  /// A time by its exact seconds.
  mutating func optionalTime(_ key: String) throws -> Timestamp? {
    guard let json = json(key) else { return nil }
    return try ArchiveObject.time(json, key)
  }

  mutating func time(_ key: String) throws -> Timestamp { try need(optionalTime(key), key) }

  static func time(_ json: JSON, _ key: String) throws -> Timestamp {
    let (time, utc) = try ArchiveObject.read(json, key) { time in
      let utc = try time.optionalText("utc")
      return (Timestamp(secondsSinceReferenceDate: try time.double("seconds")), utc)
    }
    // The readable time must match the exact one.
    guard utc == nil || JSON.time(time) == json else {
      throw ArchiveError("'utc' and 'seconds' of '\(key)' are not the same time")
    }
    return time
  }
}
