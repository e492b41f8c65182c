/// How much the cloud takes at once; the defaults are CloudKit's published figures.
///
/// Source: cloudkit-surface 2.4. Tests lower them to reach a limit with little data.
package struct CloudLimits: Hashable, Sendable {
  /// The most saves and deletions, or IDs to read, in one request; above it the call fails with
  /// `limitExceeded`.
  package var itemsPerRequest = 400
  /// The most bytes of one modify request; above it the call fails with `limitExceeded`.
  package var requestBytes = 2 * 1024 * 1024
  /// The most bytes of one record as stored; above it the item fails with `limitExceeded`.
  package var recordBytes = 1024 * 1024
  /// The most records in a page of a zone's feed.
  package var zoneChangesPage = 200
  /// The most zones in a page of the database feed.
  package var databaseChangesPage = 200
  /// A page of a zone's feed ends after the record that reaches this many bytes.
  package var pageBytes = 4 * 1024 * 1024
  /// How many records a page of a query's answer holds when nothing is asked.
  package var queryPage = 100
  /// The most records in a page of a query's answer.
  package var queryPageMaximum = 200
  /// The most bytes of one file; above it an upload fails with `limitExceeded`.
  package var assetBytes = 50 * 1024 * 1024
  /// For how many seconds an upload's receipt can be put into records.
  package var uploadSeconds: Double = 24 * 60 * 60
  /// Whether a field keeps the kind of its first save for ever.
  package var fixesFieldKinds = true
  /// Whether the save of a record gives its parent a new version too, unless the same request saves
  /// the parent; Docs/Decisions/0017.
  package var childSavesChangeParents = false
  /// The most bytes of fields that a query subscription's push carries.
  package var pushFieldBytes = 1024
  /// The longest name of a record, zone, record type or subscription, in characters.
  package var nameLength = 255
  /// The longest name of a field, in characters.
  package var keyLength = 255
  /// The most records that may be deleted with one target.
  package var owningReferences = 750
  /// The most participants of a share, the owner not counted.
  package var shareParticipants = 100
  /// The most fields a push may carry.
  package var subscriptionKeys = 3
  /// How many answers are remembered for each user and device, to tell a repeated request.
  package var receiptsKept = 256
  /// How often a caller may ask; `nil` sets no bound.
  package var throttle: CloudThrottle.Rate?

  /// The published figures, with throttling off.
  package init() {}
}

/// Faults that tests build in on purpose, to prove that their checks would see them.
package struct PlantedBugs: OptionSet, Hashable, Sendable {
  /// The bits.
  package var rawValue: UInt8

  /// Wraps the bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A save with an old change tag goes through and overwrites what it never saw.
  package static let acceptStaleTag = PlantedBugs(rawValue: 1)
  /// The feeds say nothing of deleted records.
  package static let forgetTombstone = PlantedBugs(rawValue: 2)
}
