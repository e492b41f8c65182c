import CloudProtocol
import Records
import Synchronization

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
  /// In the reference a participant who left or was removed goes on reading.
  case revokedReader
  /// The reference refuses a save that fills the quota exactly.
  case tightQuota
  /// In the reference the last value of an `IN` filter finds nothing.
  case shortIn
  /// In the reference every account may change the public records of others.
  case anyCreator
  /// The server on a file loses the first push of each request.
  case lostPush
  /// The server over HTTP hands out the file that was downloaded before.
  case wrongAsset
}

/// A cloud whose answers are tampered with.
final class TamperedCloud: Cloud {
  private let cloud: any Cloud
  private let plant: Plant
  private let before = Mutex<AssetContent>([])

  init(cloud: any Cloud, plant: Plant) {
    self.cloud = cloud
    self.plant = plant
  }

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
    case (.wrongAsset, .success(.assetContent(let content))):
      return .success(
        .assetContent(
          before.withLock { before in
            defer { before = content }
            return before
          }))
    default: return answer
    }
  }

  func administer(_ act: Act, container: String, account: String) async throws -> String {
    try await cloud.administer(act, container: container, account: account)
  }

  func takeDeliveries(container: String) async -> [Delivery] {
    let deliveries = await cloud.takeDeliveries(container: container)
    return plant == .lostPush ? Array(deliveries.dropFirst()) : deliveries
  }
}
