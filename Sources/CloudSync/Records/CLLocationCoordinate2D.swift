#if !canImport(CoreLocation)
  /// Degrees of latitude or longitude.
  public typealias CLLocationDegrees = Double
  /// Metres.
  public typealias CLLocationDistance = Double
  /// Metres of uncertainty; negative when unknown.
  public typealias CLLocationAccuracy = Double
  /// Metres per second; negative when unknown.
  public typealias CLLocationSpeed = Double
  /// Degrees clockwise from north; negative when unknown.
  public typealias CLLocationDirection = Double

  /// A latitude and a longitude.
  public struct CLLocationCoordinate2D: Sendable {
    /// Degrees north, -90 to 90.
    public var latitude: CLLocationDegrees
    /// Degrees east, -180 to 180.
    public var longitude: CLLocationDegrees

    /// The point 0, 0.
    public init() { self.init(latitude: 0, longitude: 0) }

    /// The point at `latitude` and `longitude`.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
      self.latitude = latitude
      self.longitude = longitude
    }
  }

  /// The point at `latitude` and `longitude`.
  public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
  ) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
  }

  /// Whether both numbers of `coordinate` are in their ranges.
  public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coordinate.latitude) && (-180...180).contains(coordinate.longitude)
  }

  /// A coordinate that names no place: both numbers are out of range.
  public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(
    latitude: -180, longitude: -180)
#endif
