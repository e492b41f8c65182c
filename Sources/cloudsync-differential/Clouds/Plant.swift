import CloudProtocol
import Records

/// A difference that is planted, to show that the comparison sees it.
enum Plant: String, CaseIterable, Sendable {
  /// The reference takes saves with stale tags.
  case staleTag
  /// The reference forgets what a record that was deleted is drawn along.
  case keptOwned
  /// The server on a file loses the first deletion of a page.
  case lostDeletion
  /// The server over HTTP says of a record that another device changed it.
  case wrongDevice
}

/// A cloud whose answers are tampered with.
struct TamperedCloud: Cloud {
  let cloud: any Cloud
  let plant: Plant

  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError> {
    let answer = await cloud.send(call, from: device)
    switch (plant, answer) {
    case (.lostDeletion, .success(.zoneChanges(var page))) where !page.deleted.isEmpty:
      page.deleted.removeFirst()
      return .success(.zoneChanges(page))
    case (.wrongDevice, .success(.records(var results))):
      for index in results.indices {
        guard var record = results[index].value else { continue }
        record.modified?.device = "elsewhere"
        results[index].outcome = .success(record)
      }
      return .success(.records(results))
    default: return answer
    }
  }

  func administer(_ act: Act, container: String, account: String) async throws {
    try await cloud.administer(act, container: container, account: account)
  }
}
