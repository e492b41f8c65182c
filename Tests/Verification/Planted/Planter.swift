/// Applies faults to source texts.
package struct Planter: Sendable {
  /// The faults, numbered from 1 in this order.
  package let faults: [PlantedFault]

  /// The environment's variable that says which fault is active; none if it is not set.
  package static let variable = "CLOUDSYNC_PLANTED"

  /// Plants `faults`, which are numbered in this order.
  package init(_ faults: [PlantedFault]) { self.faults = faults }

  /// The files that any fault is put into, in order.
  package var paths: [String] { Set(faults.flatMap { $0.edits.map(\.path) }).sorted() }

  /// The target of a file; `nil` outside of `Sources` and `Examples`.
  package static func target(of path: String) -> String? {
    let parts = path.split(separator: "/")
    guard parts.count >= 3, parts[0] == "Sources" || parts[0] == "Examples" else { return nil }
    return String(parts[1])
  }

  /// The text of the file at `path` with every fault in it.
  ///
  /// - Throws: ``PlantingError`` if an original does not occur exactly once, two of them
  ///   overlap, or a replacement has no condition.
  package func planted(_ text: String, at path: String) throws(PlantingError) -> String {
    var changes: [(range: Range<String.Index>, text: String, name: String)] = []
    for (index, fault) in faults.enumerated() {
      for edit in fault.edits where edit.path == path {
        guard edit.replacement.contains(PlantedFault.switchWord) else {
          throw PlantingError(
            "\(fault.name): the replacement in \(path) does not contain "
              + "\(PlantedFault.switchWord), so the fault would always be active")
        }
        let range = try Planter.place(of: edit.original, in: text, fault.name, path)
        let call = "planted(\(index + 1))"
        changes.append(
          (range, edit.replacement.replacing(PlantedFault.switchWord, with: call), fault.name))
      }
    }
    changes.sort { $0.range.lowerBound < $1.range.lowerBound }
    for (first, second) in zip(changes, changes.dropFirst())
    where first.range.upperBound > second.range.lowerBound {
      throw PlantingError(
        "\(first.name) and \(second.name) change the same text in \(path); move one of them")
    }
    var result = text
    for change in changes.reversed() { result.replaceSubrange(change.range, with: change.text) }
    return result
  }

  private static func place(
    of original: String, in text: String, _ name: String, _ path: String
  ) throws(PlantingError) -> Range<String.Index> {
    let places = text.ranges(of: original)
    guard let place = places.first, places.count == 1, !original.isEmpty else {
      throw PlantingError(
        "\(name): the original occurs \(places.count) times in \(path), not once; "
          + "bring the fault up to date with the code")
    }
    return place
  }

  /// The file that each target with a fault gets beside its own: it returns which one is active.
  package static let switchFile = """
    #if canImport(Glibc)
      import Glibc
    #elseif canImport(Musl)
      import Musl
    #else
      import Darwin
    #endif

    private let active: Int = getenv("\(variable)").flatMap { Int(String(cString: $0)) } ?? 0

    @inline(__always)
    func planted(_ number: Int) -> Bool { active == number }

    """

  /// The name of that file.
  package static let switchFileName = "PlantedSwitch.swift"
}
