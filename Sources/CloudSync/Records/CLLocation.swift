public import Foundation
package import Records

/// A place on earth; where there is no CoreLocation, fields of that kind are read and written
/// as this class, which has CoreLocation's names.
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable,
  CKRecordValueProtocol
{
  /// The place as the vocabulary spells it.
  package let value: Location

  /// Wraps a place of the vocabulary.
  package init(_ value: Location) { self.value = value }

  /// The place at `latitude` and `longitude`, measured now.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
      horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
  }

  /// A measured place without motion.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
      verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }

  /// A measured place with motion.
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
  /// When the place was measured.
  public var timestamp: Date { Date(value.timestamp) }

  /// The great-circle distance to `location` in metres, on a sphere of the earth's mean radius.
  public func distance(from location: CLLocation) -> CLLocationDistance {
    let radians = Double.pi / 180
    let first = value.latitude * radians
    let second = location.value.latitude * radians
    let latitude = sin((second - first) / 2)
    let longitude = sin((location.value.longitude - value.longitude) * radians / 2)
    let chord = latitude * latitude + cos(first) * cos(second) * longitude * longitude
    return 2 * 6_371_008.8 * asin(min(1, chord.squareRoot()))
  }

  /// Whether `object` is the same place, measured alike.
  public override func isEqual(_ object: Any?) -> Bool { (object as? CLLocation)?.value == value }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// Latitude, longitude and accuracy.
  public override var description: String {
    "<\(value.latitude),\(value.longitude)> +/- \(value.horizontalAccuracy)m"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Itself: a place never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the place.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncLocation", with: coder) { $0.write(.location(value)) }
  }

  /// Reads the place back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncLocation", with: coder) {
      (reader) throws(ByteFormatError) in try reader.fieldValue()
    }
    if case .location(let value) = value {
      self.init(value)
    } else if let value = Location(appleArchive: coder) {
      self.init(value)
    } else {
      return nil
    }
  }
}

extension CLLocation: FieldValueConvertible {
  /// The place.
  package var fieldValue: FieldValue? { .location(value) }
}
