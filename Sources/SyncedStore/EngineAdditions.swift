import Foundation

// What this package's engine offers beyond Apple's. The other branch of each condition is for
// Apple's framework; no other file of the module uses an addition.

extension CKSyncEngine.Configuration {
  /// Creates the settings of an engine whose waits `clock` measures; Apple's measures them itself.
  init(
    _ database: CKDatabase, state: CKSyncEngine.State.Serialization?,
    delegate: any CKSyncEngineDelegate, automaticallySync: Bool, clock: any Clock<Duration>
  ) {
    self.init(database: database, stateSerialization: state, delegate: delegate)
    self.automaticallySync = automaticallySync
    #if !AppleCloudKit
      self.clock = clock
    #endif
  }
}

extension CKSyncEngine.Event.WillFetchRecordZoneChanges {
  /// Whether the zone is read from its beginning, so that earlier deletions are not reported.
  ///
  /// Apple's engine does not tell.
  var readsWholeZone: Bool {
    #if AppleCloudKit
      false
    #else
      startsOver
    #endif
  }
}

extension CKSyncEngine {
  /// The reason why the engine can't work; Apple's engine does not report it.
  var startError: (any Error)? {
    #if AppleCloudKit
      nil
    #else
      stateStoreError
    #endif
  }

  /// Calls a function after each end of a fetch or send, with the error, or `nil` for a success.
  ///
  /// Several ends in a short time may be one call. The task does not retain the engine, and ends
  /// with it. Apple's engine does not report how an operation ended.
  func follow(_ body: @escaping @Sendable (CKError?) -> Void) -> Task<Void, Never>? {
    #if AppleCloudKit
      return nil
    #else
      let updates = statusUpdates
      return Task {
        var last: [Duration?] = [nil, nil, nil]
        for await status in updates {
          let ends = [status.lastFetch, status.lastSend, status.lastFailure?.time]
          if ends != last { body(status.lastFailure.map { CKError($0.code) }) }
          last = ends
        }
      }
    #endif
  }
}

/// The list of changes that wait to be sent: the engine's, or one of a test.
protocol PendingChanges: AnyObject, Sendable {
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] { get }
  var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] { get }
  func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
  func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
  /// The first changes in a scope, at most `limit`.
  func first(
    _ limit: Int, in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange]
}

extension CKSyncEngine.State: PendingChanges {
  func first(
    _ limit: Int, in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    #if AppleCloudKit
      Array(pendingRecordZoneChanges.lazy.filter { scope.contains($0) }.prefix(limit))
    #else
      pendingRecordZoneChanges(in: scope, limit: limit)
    #endif
  }
}

/// The reason why an engine's state can't be decoded.
func reason(ofDecodingError error: any Error) -> String {
  #if !AppleCloudKit
    if let error = error as? CKSyncEngine.State.SerializationError { return error.message }
  #endif
  return "it is not the state of a sync engine"
}
