import CloudMachine

/// How much the server takes at once; the defaults are CloudKit's published figures.
///
/// Lower them in a test to reach a limit with little data. Source: cloudkit-surface 2.4.
public struct ServerLimits: Hashable, Sendable {
  /// How often one account may ask.
  public struct Throttle: Hashable, Sendable {
    /// Requests allowed in a window, at least 1.
    public var requests: Int
    /// The length of a window in seconds.
    public var seconds: Double

    /// Allows `requests` in `seconds`.
    public init(requests: Int, seconds: Double) {
      self.requests = requests
      self.seconds = seconds
    }
  }

  /// The most saves and deletions, or IDs to read, in one request.
  public var itemsPerRequest: Int
  /// The most bytes of one modify request.
  public var requestBytes: Int
  /// The most bytes of one record.
  public var recordBytes: Int
  /// The most records in a page of a zone's changes.
  public var zoneChangesPage: Int
  /// The most zones in a page of a database's changes.
  public var databaseChangesPage: Int
  /// The most bytes of one file.
  public var assetBytes: Int
  /// Whether a field keeps the kind of its first save for ever, as CloudKit's schemas have it.
  public var fixesFieldKinds: Bool
  /// Whether the save of a record gives its parent a new version too, as the live service was seen
  /// to do; a save of the parent under its old change tag then fails with `serverRecordChanged`.
  ///
  /// Off unless a test switches it on.
  public var childSavesChangeParents: Bool
  /// How often one account may ask; `nil` sets no bound.
  public var throttle: Throttle?

  /// The published figures, with throttling off.
  public init() { self.init(CloudLimits()) }

  init(_ limits: CloudLimits) {
    itemsPerRequest = limits.itemsPerRequest
    requestBytes = limits.requestBytes
    recordBytes = limits.recordBytes
    zoneChangesPage = limits.zoneChangesPage
    databaseChangesPage = limits.databaseChangesPage
    assetBytes = limits.assetBytes
    fixesFieldKinds = limits.fixesFieldKinds
    childSavesChangeParents = limits.childSavesChangeParents
    throttle = limits.throttle.map { Throttle(requests: $0.requests, seconds: $0.window) }
  }

  var cloudLimits: CloudLimits {
    var limits = CloudLimits()
    limits.itemsPerRequest = itemsPerRequest
    limits.requestBytes = requestBytes
    limits.recordBytes = recordBytes
    limits.zoneChangesPage = zoneChangesPage
    limits.databaseChangesPage = databaseChangesPage
    limits.assetBytes = assetBytes
    limits.fixesFieldKinds = fixesFieldKinds
    limits.childSavesChangeParents = childSavesChangeParents
    limits.throttle = throttle.map { .init(requests: $0.requests, window: $0.seconds) }
    return limits
  }
}
