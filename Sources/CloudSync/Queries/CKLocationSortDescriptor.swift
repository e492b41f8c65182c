public import Foundation
import Records

/// Sorts records by the distance of a location, nearest first; see CS-83.
public final class CKLocationSortDescriptor: NSSortDescriptor {
  /// The origin of distances.
  public let relativeLocation: CLLocation

  /// The name of the field with the location.
  package let fieldName: String

  /// Creates a descriptor for the distance of the location in the field `key`.
  public init(key: String, relativeLocation: CLLocation) {
    self.relativeLocation = relativeLocation
    self.fieldName = key
    #if canImport(Darwin)
      super.init(key: key, ascending: true)
    #else
      super.init(keyPath: \String.count, ascending: true)
    #endif
  }

  #if canImport(Darwin)
    /// Decoding is not supported: the archive of a sort descriptor has no place.
    public required init?(coder: NSCoder) { nil }
  #endif

  #if !canImport(Darwin)
    /// Orders two records by distance; records without a location are last.
    public override func compare(_ first: Any, to second: Any) -> ComparisonResult {
      let origin = relativeLocation.value
      func distance(_ object: Any) -> Double {
        let evaluation = PredicateEvaluation(object: object, variables: [:])
        guard case .value(.location(let place)) = evaluation.value(of: .key(fieldName)) else {
          return .infinity
        }
        return place.distance(to: origin)
      }
      let (near, far) = (distance(first), distance(second))
      return near < far ? .orderedAscending : near > far ? .orderedDescending : .orderedSame
    }

    /// The same descriptor, since the service sorts by distance in one direction only.
    public override var reversedSortDescriptor: Any { self }

    /// Returns the object itself, since it is immutable.
    public override func copy(with zone: NSZone? = nil) -> Any { self }
  #endif
}

#if canImport(Darwin)
  // Immutable; the superclass is Sendable there, which has to be said again.
  extension CKLocationSortDescriptor: @unchecked Sendable {}
#endif
