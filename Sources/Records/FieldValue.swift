/// A point in time as CloudKit stores it: seconds since 2001-01-01 00:00:00 UTC.
///
/// The `Double` is kept bit for bit, so a date comes back equal to the one that was saved.
public struct Timestamp: Hashable, Sendable, Codable, Comparable {
  /// Seconds since the reference date, 2001-01-01 00:00:00 UTC.
  public var secondsSinceReferenceDate: Double

  /// The time `secondsSinceReferenceDate` after the reference date.
  public init(secondsSinceReferenceDate: Double) {
    self.secondsSinceReferenceDate = secondsSinceReferenceDate
  }

  /// Whether both hold the same bits, so that equality survives every value.
  public static func == (first: Timestamp, second: Timestamp) -> Bool {
    first.secondsSinceReferenceDate.bitPattern == second.secondsSinceReferenceDate.bitPattern
  }

  /// Feeds the bits, to agree with `==`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(secondsSinceReferenceDate.bitPattern)
  }

  /// Orders by time.
  public static func < (first: Timestamp, second: Timestamp) -> Bool {
    first.secondsSinceReferenceDate < second.secondsSinceReferenceDate
  }
}

/// A pointer from one record to another in the same zone.
public struct Reference: Hashable, Sendable, Codable {
  /// What happens to the holder when the target is deleted.
  public enum Action: UInt8, Hashable, Sendable, Codable {
    /// Nothing: the reference dangles.
    case none = 0
    /// The holder is deleted too.
    case deleteSelf = 1
    /// The target must be there, and stays as long as it is pointed at.
    ///
    /// Only CloudKit Web Services has it.
    case validate = 2
  }

  /// The record pointed at.
  public var target: RecordID

  /// What the target's deletion does to the holder.
  public var action: Action

  /// Points at `target`.
  public init(target: RecordID, action: Action) {
    self.target = target
    self.action = action
  }
}

/// A file that belongs to a record, known to the vocabulary by its content's checksum.
public struct Asset: Hashable, Sendable, Codable {
  /// The checksum of the content, as lower-case hexadecimal.
  public var checksum: String

  /// The length of the content in bytes.
  public var size: Int

  /// The receipt of an upload that a save redeems, absent on what was read.
  public var receipt: String?

  /// Where the content lies on the client before an upload, or where a download can be had.
  public var location: String?

  /// Describes a file's content.
  public init(checksum: String, size: Int, receipt: String? = nil, location: String? = nil) {
    self.checksum = checksum
    self.size = size
    self.receipt = receipt
    self.location = location
  }
}

/// A place on earth, with the accuracy and motion that CloudKit keeps beside it.
public struct Location: Hashable, Sendable, Codable {
  /// Degrees north, -90 to 90.
  public var latitude: Double
  /// Degrees east, -180 to 180.
  public var longitude: Double
  /// Metres above sea level.
  public var altitude: Double
  /// Radius of uncertainty in metres; negative when unknown.
  public var horizontalAccuracy: Double
  /// Uncertainty of the altitude in metres; negative when unknown.
  public var verticalAccuracy: Double
  /// Degrees clockwise from north; negative when unknown.
  public var course: Double
  /// Metres per second; negative when unknown.
  public var speed: Double
  /// When the place was measured.
  public var timestamp: Timestamp

  /// Describes a measured place.
  public init(
    latitude: Double, longitude: Double, altitude: Double = 0, horizontalAccuracy: Double = 0,
    verticalAccuracy: Double = -1, course: Double = -1, speed: Double = -1,
    timestamp: Timestamp = Timestamp(secondsSinceReferenceDate: 0)
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.speed = speed
    self.timestamp = timestamp
  }

  /// The numbers in a fixed order, as bits.
  private var bits: [UInt64] {
    [
      latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed,
      timestamp.secondsSinceReferenceDate,
    ].map(\.bitPattern)
  }

  /// Whether both hold the same bits, as with `Timestamp`.
  public static func == (first: Location, second: Location) -> Bool { first.bits == second.bits }

  /// Feeds the bits, to agree with `==`.
  public func hash(into hasher: inout Hasher) { hasher.combine(bits) }
}

/// One value a record's field can hold.
///
/// Equality is exact: strings compare by their UTF-8 bytes and doubles by their bits, because
/// "survives every hop bit for bit" must be something a test can see.
/// There is no boolean: CloudKit stores 0 and 1.
public enum FieldValue: Sendable, Codable, Hashable {
  /// Text, kept byte for byte in whatever Unicode form it came.
  case string(String)
  /// A whole number.
  case int64(Int64)
  /// A floating-point number, kept bit for bit.
  case double(Double)
  /// A point in time.
  case date(Timestamp)
  /// Raw bytes.
  case bytes([UInt8])
  /// A pointer to another record.
  case reference(Reference)
  /// A file.
  case asset(Asset)
  /// A place.
  case location(Location)
  /// A list of values of one kind; may be empty.
  case list([FieldValue])

  /// Compares exactly; see the type's discussion.
  public static func == (first: FieldValue, second: FieldValue) -> Bool {
    switch (first, second) {
    case (.string(let first), .string(let second)): first.utf8.elementsEqual(second.utf8)
    case (.int64(let first), .int64(let second)): first == second
    case (.double(let first), .double(let second)): first.bitPattern == second.bitPattern
    case (.date(let first), .date(let second)): first == second
    case (.bytes(let first), .bytes(let second)): first == second
    case (.reference(let first), .reference(let second)): first == second
    case (.asset(let first), .asset(let second)): first == second
    case (.location(let first), .location(let second)): first == second
    case (.list(let first), .list(let second)): first == second
    case (.string, _), (.int64, _), (.double, _), (.date, _), (.bytes, _), (.reference, _),
      (.asset, _), (.location, _), (.list, _):
      false
    }
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let value):
      hasher.combine(0)
      for byte in value.utf8 { hasher.combine(byte) }
    case .int64(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .date(let value): hasher.combine(value)
    case .bytes(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(value)
    case .asset(let value): hasher.combine(value)
    case .location(let value): hasher.combine(value)
    case .list(let value): hasher.combine(value)
    }
  }

  /// The kind of a value, by which a server fixes a field's type at its first save.
  public enum Kind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// Text.
    case string = 1
    /// Whole number.
    case int64
    /// Floating-point number.
    case double
    /// Point in time.
    case date
    /// Raw bytes.
    case bytes
    /// Pointer to a record.
    case reference
    /// File.
    case asset
    /// Place.
    case location
    /// List.
    case list
  }

  /// The kind of this value.
  public var kind: Kind {
    switch self {
    case .string: .string
    case .int64: .int64
    case .double: .double
    case .date: .date
    case .bytes: .bytes
    case .reference: .reference
    case .asset: .asset
    case .location: .location
    case .list: .list
    }
  }

  /// The files in the value, those of a list in their order.
  public var assets: [Asset] {
    switch self {
    case .asset(let asset): [asset]
    case .list(let values): values.flatMap(\.assets)
    case .string, .int64, .double, .date, .bytes, .reference, .location: []
    }
  }

  /// The number of bytes that the value counts toward a record's size limit.
  ///
  /// An asset counts 0 bytes, and each element of a list at least 8.
  public var byteCount: Int {
    switch self {
    case .string(let value): value.utf8.count
    case .int64, .double, .date: 8
    case .bytes(let value): value.count
    case .reference(let value): value.target.name.utf8.count + value.target.zone.name.utf8.count
    case .asset: 0
    case .location: 64
    case .list(let values): values.reduce(0) { $0 + max(8, $1.byteCount) }
    }
  }
}
