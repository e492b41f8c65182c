import Foundation

/// A fault for a copy of the sources, which shows whether the simulations detect it.
///
/// The product itself has no code for it. All faults are applied to one copy, each behind a
/// condition on its number, so that one build serves them all and the environment activates one.
package struct PlantedFault: Hashable, Sendable {
  /// A short name, unique in the catalogue.
  package var name = ""
  /// One sentence about the mistake.
  package var story = ""
  /// The replacements in the sources.
  package var edits: [Edit] = []
  /// The runs that are expected to find it, the most likely one first.
  package var detectors: [Detector] = []

  /// One replacement in one file.
  package struct Edit: Hashable, Sendable {
    /// The file, relative to the package's folder.
    package var path: String
    /// The text to replace, which must occur exactly once in the file.
    package var original = ""
    /// The text that replaces it; `PLANTED` in it becomes the condition that activates the fault.
    package var replacement = ""

    /// Creates an edit of the file at `path`.
    package init(path: String) { self.path = path }
  }

  /// The word in a replacement that becomes the condition.
  package static let switchWord = "PLANTED"

  /// Creates a fault without edits.
  package init(name: String) { self.name = name }

  /// The target of the first edit, as the report names it.
  package var target: String {
    edits.first.flatMap { Planter.target(of: $0.path) } ?? "?"
  }
}

/// A run of this tool that simulates world after world until it detects a violation.
package struct Detector: Hashable, Sendable {
  /// The name in the catalogue and in reports.
  package let name: String
  /// The command and its options, before the seeds.
  package let arguments: [String]

  /// The name of the soak on PostgreSQL.
  static let cluster = "cluster"

  /// The detector with this name: `machines`, `engines`, `crashes`, `cluster`, or `stores: KIND`;
  /// `nil` for another name.
  package init?(_ name: String) {
    switch name {
    case "machines": arguments = ["simulate"]
    case "engines": arguments = ["simulate", "--engine"]
    case Detector.cluster:
      // Its database is the one that .ci/postgresql makes.
      arguments = [
        "soak", "--data", ProcessInfo.processInfo.environment["CLOUDSYNC_POSTGRESQL"] ?? "",
        "--seconds", "20", "--servers", "3", "--kill-every", "2", "--interrupt", "all",
      ]
    case "crashes": arguments = ["crash", "images", "failures"]
    case _ where name.hasPrefix("stores: "):
      arguments = ["stores", "--store", String(name.dropFirst("stores: ".count))]
    default: return nil
    }
    self.name = name
  }
}

/// An error in the catalogue, or a fault that does not fit the sources.
package struct PlantingError: Error, Hashable, CustomStringConvertible {
  /// The fault and the problem.
  package var description: String

  /// Creates an error with a description.
  package init(_ description: String) { self.description = description }
}
