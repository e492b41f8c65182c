// The lead's file: minimal declarations so that stores compile; the driver replaces it.

/// Keeps a local copy of a private or shared database in step with the server.
public final class CKSyncEngine: Sendable {
  /// The database kept in step.
  public let database: CKDatabase

  /// What waits to be sent, and what is known of the server.
  public let state: CKSyncEngine.State

  /// Makes an engine.
  public init(_ configuration: CKSyncEngine.Configuration) {
    database = configuration.database
    state = State(configuration.stateSerialization)
  }

  /// Fetches what changed on the server.
  public func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions = .init()) async throws {}

  /// Sends what waits.
  public func sendChanges(_ options: CKSyncEngine.SendChangesOptions = .init()) async throws {}

  /// Stops what is under way.
  public func cancelOperations() async {}
}

extension CKSyncEngine: CustomStringConvertible {
  /// The database.
  public var description: String { "<CKSyncEngine: \(database)>" }
}
