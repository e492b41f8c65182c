/// Something that keeps data on a disk and says when a change is safe.
package protocol CrashSubject: SendableMetatype {
  /// The contents, as seen from outside.
  associatedtype Contents: Equatable & Sendable
  /// One change of it, as a caller asks for it.
  associatedtype Change: Sendable

  /// Its name in a report.
  static var name: String { get }
  /// The contents of a new subject.
  static var empty: Contents { get }
  /// Whether nothing is taken after a failure until it is opened again.
  static var refusesAfterFailure: Bool { get }

  /// Opens it, as a process that starts does.
  init(on disk: SimulatedDisk) async throws

  /// The current contents.
  func contents() async throws -> Contents

  /// The `step`th change, and what it makes of `contents`.
  static func change(
    _ step: Int, of contents: Contents, _ random: inout SeededRandom
  ) -> (Change, Contents)

  /// Makes a change; it is safe when this returns.
  func apply(_ change: Change) async throws

  /// Ends it as a process does that ends by itself.
  func close() async

  /// Whether the error is one of those a user can act on.
  static func isTyped(_ error: any Error) -> Bool
}

/// The results of crash scenarios.
package struct CrashTally: Sendable {
  /// The number of disk images that were opened again.
  package var images = 0
  /// The number of images by depth: of crashes, of crashes during recovery, and so on.
  package var byDepth = [0, 0, 0]
  /// The number of injected failures.
  package var failures = 0
  /// The number of acknowledged changes.
  package var acknowledged = 0
  /// The first hundred violations, each with its seed.
  package var violations: [String] = []
  /// The number of violations.
  package var violationCount = 0

  /// Creates an empty tally.
  package init() {}

  /// Notes what should not have been.
  package mutating func violate(_ text: String) {
    violationCount += 1
    if violations.count < 100 { violations.append(text) }
  }

  /// Adds what another account counted.
  package mutating func add(_ other: CrashTally) {
    images += other.images
    for index in byDepth.indices { byDepth[index] += other.byDepth[index] }
    failures += other.failures
    acknowledged += other.acknowledged
    violationCount += other.violationCount
    violations += other.violations.prefix(max(0, 100 - violations.count))
  }
}
