#if canImport(CoreLocation)
  @_exported public import CoreLocation
  import Foundation
  package import Records

  // CoreLocation's own class, as in CloudKit. It archives itself.
  extension CLLocation: CKRecordValueProtocol, FieldValueConvertible {
    /// The field value of the location.
    package var fieldValue: FieldValue? { .location(value) }

    /// The location as a value.
    package var value: Location {
      Location(
        latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
        horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy,
        course: course, speed: speed,
        timestamp: Timestamp(
          secondsSinceReferenceDate: timestamp.timeIntervalSinceReferenceDate))
    }

    /// Creates the location of a value.
    package convenience init(_ value: Location) {
      self.init(
        coordinate: CLLocationCoordinate2D(latitude: value.latitude, longitude: value.longitude),
        altitude: value.altitude, horizontalAccuracy: value.horizontalAccuracy,
        verticalAccuracy: value.verticalAccuracy, course: value.course, speed: value.speed,
        timestamp: Date(value.timestamp))
    }
  }
#else
  public import Foundation
  package import Records

  /// A location, the value of location fields where there is no CoreLocation; it has the members of
  /// CoreLocation's class.
  public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable,
    CKRecordValueProtocol, FieldValueConvertible
  {
    /// The field value of the location.
    package var fieldValue: FieldValue? { .location(value) }

    /// The location as a value.
    package let value: Location

    /// Wraps a location.
    package init(_ value: Location) { self.value = value }

    /// Creates a location at `latitude` and `longitude`, measured now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
      self.init(
        coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
        horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    /// Creates a location without course and speed.
    public convenience init(
      coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
      horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
      self.init(
        coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
        verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    /// Creates a location with course and speed.
    public convenience init(
      coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
      horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
      course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
      self.init(
        Location(
          latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
          horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy,
          course: course, speed: speed,
          timestamp: Timestamp(
            secondsSinceReferenceDate: timestamp.timeIntervalSinceReferenceDate)))
    }

    /// Latitude and longitude.
    public var coordinate: CLLocationCoordinate2D {
      CLLocationCoordinate2D(latitude: value.latitude, longitude: value.longitude)
    }

    /// Metres above sea level.
    public var altitude: CLLocationDistance { value.altitude }
    /// Radius of uncertainty in metres; negative when unknown.
    public var horizontalAccuracy: CLLocationAccuracy { value.horizontalAccuracy }
    /// Uncertainty of the altitude in metres; negative when unknown.
    public var verticalAccuracy: CLLocationAccuracy { value.verticalAccuracy }
    /// Degrees clockwise from north; negative when unknown.
    public var course: CLLocationDirection { value.course }
    /// Metres per second; negative when unknown.
    public var speed: CLLocationSpeed { value.speed }
    /// The time of the measurement.
    public var timestamp: Date { Date(value.timestamp) }

    /// The great-circle distance to `location` in metres, on a sphere of the earth's mean radius.
    public func distance(from location: CLLocation) -> CLLocationDistance {
      value.distance(to: location.value)
    }

    /// Whether `object` is an equal location.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CLLocation)?.value == value }

    /// The hash, consistent with `isEqual`.
    public override var hash: Int { value.hashValue }

    /// Latitude, longitude and accuracy.
    public override var description: String {
      "<\(value.latitude),\(value.longitude)> +/- \(value.horizontalAccuracy)m"
    }

    /// Returns the object itself, since it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Archives the location.
    public func encode(with coder: NSCoder) {
      ArchivedBytes.encode("CloudSyncLocation", with: coder) { $0.write(.location(value)) }
    }

    /// Decodes a location; returns `nil` if the archive is damaged.
    public convenience init?(coder: NSCoder) {
      let value = ArchivedBytes.decode("CloudSyncLocation", with: coder) { try $0.fieldValue() }
      if case .location(let value) = value {
        self.init(value)
      } else if let value = Location(appleArchive: coder) {
        self.init(value)
      } else {
        return nil
      }
    }
  }
#endif
