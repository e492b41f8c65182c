extension Location {
  /// The mean radius of the earth in metres.
  private static let earthRadius = 6_371_008.8

  /// The metres along a great circle of a round earth from here to `other`; not a number when a
  /// coordinate is none.
  ///
  /// Only arithmetic and square roots are used, so every machine gets the same bits.
  public func distance(to other: Location) -> Double {
    let (here, there) = (unitVector, other.unitVector)
    let (x, y, z) = (here.x - there.x, here.y - there.y, here.z - there.z)
    let chord = (x * x + y * y + z * z).squareRoot() / 2
    return 2 * Location.earthRadius * Location.arcsine(chord)
  }

  private var unitVector: (x: Double, y: Double, z: Double) {
    let (north, east) = (Location.circle(latitude), Location.circle(longitude))
    return (north.cosine * east.cosine, north.cosine * east.sine, north.sine)
  }

  /// Sine and cosine of an angle in degrees, by their power series.
  private static func circle(_ degrees: Double) -> (sine: Double, cosine: Double) {
    guard degrees.magnitude <= 720 else { return (.nan, .nan) }
    // An eighth of the angle makes the series short; three doublings bring it back.
    let angle = degrees * (Double.pi / 180) / 8
    let square = angle * angle
    var (sine, cosine) = (0.0, 0.0)
    for step in stride(from: 27.0, through: 3, by: -2) {
      sine = (1 + sine) * -square / (step * (step - 1))
      cosine = (1 + cosine) * -square / ((step - 1) * (step - 2))
    }
    (sine, cosine) = (angle * (1 + sine), 1 + cosine)
    for _ in 0..<3 { (sine, cosine) = (2 * sine * cosine, cosine * cosine - sine * sine) }
    return (sine, cosine)
  }

  /// The angle whose sine is `value`, from 0 to a quarter of a circle.
  private static func arcsine(_ value: Double) -> Double {
    guard value <= 0.5 else {
      guard value < 1 else { return value.isNaN ? .nan : .pi / 2 }
      return .pi / 2 - 2 * arcsine(((1 - value) / 2).squareRoot())
    }
    let square = value * value
    var sum = 0.0
    for step in stride(from: 49.0, through: 1, by: -2) {
      sum = 1 / step + sum * square * step / (step + 1)
    }
    return value * sum
  }
}
