public import CloudSync
public import Foundation

// The additions of this package's engine that the stores use. With Apple's framework the other
// branch of each condition applies, and no other file of the stores uses an addition.

extension CKSyncEngine.Configuration {
  /// Creates the settings of an engine whose waits `clock` measures.
  ///
  /// Apple's engine measures its waits itself.
  public init(
    _ database: CKDatabase, state: CKSyncEngine.State.Serialization?,
    delegate: any CKSyncEngineDelegate, automaticallySync: Bool, clock: any Clock<Duration>
  ) {
    self.init(database: database, stateSerialization: state, delegate: delegate)
    self.automaticallySync = automaticallySync
    #if canImport(CloudSync)
      self.clock = clock
    #endif
  }
}

extension CKSyncEngine.Event.WillFetchRecordZoneChanges {
  /// Whether the zone is read from its beginning, so that deletions before are not reported.
  ///
  /// Apple's engine does not tell.
  public var readsWholeZone: Bool {
    #if canImport(CloudSync)
      startsOver
    #else
      false
    #endif
  }
}

extension CKSyncEngine.State: PendingChangeList {
  func firstPendingRecordZoneChanges(
    in scope: CKSyncEngine.SendChangesOptions.Scope, limit: Int
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    #if canImport(CloudSync)
      pendingRecordZoneChanges(in: scope, limit: limit)
    #else
      Array(pendingRecordZoneChanges.filter { scope.contains($0) }.prefix(limit))
    #endif
  }
}

extension AtomicFile {
  /// Copies the file to a name of its own, and removes it.
  ///
  /// - Returns: the copy; `nil` if there is no file.
  /// - Throws: `FileError` if the copy can't be written, or the file not removed.
  public func moveAside() throws(FileError) -> URL? {
    let copy = try setAside()
    if copy != nil { try removeFile() }
    return copy
  }

  /// Reads the saved state of an engine; `nil` when there is none.
  ///
  /// - Parameter isRecovering: whether a damaged state is set aside; then there is none.
  /// - Throws: `FileError` when the state is damaged; the file is left as it is.
  public func readEngineState(
    recovering isRecovering: Bool
  ) throws(FileError) -> (state: CKSyncEngine.State.Serialization?, recovery: FileRecovery?) {
    guard let data = try read() else { return (nil, nil) }
    do {
      let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
      return (state, nil)
    } catch {
      var reason = "it is not a sync state"
      #if canImport(CloudSync)
        if let error = error as? CKSyncEngine.State.SerializationError { reason = error.message }
      #endif
      let damage = FileError(
        .understand, url,
        "\(reason). Nothing was changed; open with recovery to set it aside and fetch anew.")
      guard isRecovering, let copy = try moveAside() else { throw damage }
      return (nil, FileRecovery(damage, copy: copy))
    }
  }
}
