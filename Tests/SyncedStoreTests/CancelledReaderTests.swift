import CloudSync
import Foundation
import Synchronization
import Testing

@testable import SyncedStore

@Suite("SyncedStore: readers that are cancelled")
struct CancelledReaderTests {
  /// An item that calls a function when it is read, which the store does under its lock.
  private struct Gate: SyncedItem, Identifiable {
    static let recordType: CKRecord.RecordType = "Gate"
    static let whenRead = Mutex<(@Sendable () -> Void)?>(nil)

    var id: String

    init?(_ record: CKRecord) {
      Gate.whenRead.withLock { $0 }?()
      return nil
    }

    func copy(to record: CKRecord) {}
  }

  @Test("A reader is cancelled while the store works under its lock")
  func cancellationDoesNotWaitForTheStore() async throws {
    let folder = TemporaryFolder()
    let store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url,
      types: [SyncedType(Gate.self, merging: .laterWins { _ in Date(timeIntervalSince1970: 0) })])
    defer { Gate.whenRead.withLock { $0 = nil } }
    for number in 0..<20 {
      let changes = store.changes
      let reader = Task { for await _ in changes {} }
      // The reader is likely to wait for a change then; else this round shows nothing.
      for _ in 0..<20 { await Task.yield() }
      let isCancelled = Mutex(false)
      Gate.whenRead.withLock { whenRead in
        whenRead = {
          let done = DispatchSemaphore(value: 0)
          Thread.detachNewThread {
            reader.cancel()
            done.signal()
          }
          // A limit that only a blocked cancellation reaches.
          let result = done.wait(timeout: .now() + 20)
          isCancelled.withLock { $0 = result == .success }
        }
      }
      let id = CKRecord.ID(recordName: "gate-\(number)", zoneID: NoteDevice.zone)
      try store.receive([CKRecord(recordType: Gate.recordType, recordID: id)])
      try #require(isCancelled.withLock { $0 })
      await reader.value
    }
  }
}
