/// Something that keeps data on a disk and says when a change is safe.
package protocol CrashSubject: SendableMetatype {
  /// What it holds, as seen from outside.
  associatedtype Contents: Equatable & Sendable
  /// One change of it, as a caller asks for it.
  associatedtype Change: Sendable

  /// Its name in a report.
  static var name: String { get }
  /// What it holds when it is new.
  static var empty: Contents { get }
  /// Whether nothing is taken after a failure until it is opened again.
  static var refusesAfterFailure: Bool { get }

  /// Opens it, as a process that starts does.
  init(on disk: SimulatedDisk) async throws

  /// What it holds now.
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

/// What crash programmes have counted.
package struct CrashTally: Sendable {
  /// How many images of a disk were opened again.
  package var images = 0
  /// How many of them came from a crash during the recovery of another, by depth from 1 on.
  package var byDepth = [0, 0, 0]
  /// How many calls of the disk failed on purpose.
  package var failures = 0
  /// How many changes were acknowledged.
  package var acknowledged = 0
  /// What should not have been, each with its seed; the first hundred.
  package var violations: [String] = []
  /// How many there were of them.
  package var violationCount = 0

  /// Nothing counted yet.
  package init() {}

  /// Notes what should not have been.
  package mutating func violate(_ text: String) {
    violationCount += 1
    if violations.count < 100 { violations.append(text) }
  }

  /// Adds what somebody else counted.
  package mutating func add(_ other: CrashTally) {
    images += other.images
    for index in byDepth.indices { byDepth[index] += other.byDepth[index] }
    failures += other.failures
    acknowledged += other.acknowledged
    violationCount += other.violationCount
    violations += other.violations.prefix(max(0, 100 - violations.count))
  }
}
