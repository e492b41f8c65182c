/// Why a fault can't be planted.
package struct PlantingError: Error, Hashable, CustomStringConvertible {
  /// What is wrong with which fault.
  package var description: String

  /// Says `description`.
  package init(_ description: String) { self.description = description }
}
