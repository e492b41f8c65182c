import Records
import WebServices

extension JSON {
  /// A time: readable in UTC to the millisecond, and the exact seconds, which are authoritative.
  static func time(_ time: Timestamp) -> JSON {
    .members([
      "utc": utc(time).map { .string($0) }, "seconds": .double(time.secondsSinceReferenceDate),
    ])
  }

  /// Date and time of day; `nil` for times before the year 0 and near the end of the year 9999.
  private static func utc(_ time: Timestamp) -> String? {
    guard time.secondsSinceReferenceDate < 252_000_000_000, let civil = CivilTime(time) else {
      return nil
    }
    let date = [
      CivilTime.padded(civil.year, 4), CivilTime.padded(civil.month, 2),
      CivilTime.padded(civil.day, 2),
    ].joined(separator: "-")
    return "\(date)T\(civil.clock).\(CivilTime.padded(civil.milliseconds % 1000, 3))Z"
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
