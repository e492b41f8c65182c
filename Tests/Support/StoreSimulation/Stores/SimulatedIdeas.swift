import CloudProtocol
import Foundation
import IdeaStore
import LoopbackServer
import Records
import SimulationSupport
import SyncSupport

extension SimulatedStore {
  /// Ideas in the default zone: the later version wins, and a deletion is a change like any other.
  static func ideas(_ device: DeviceSetting) throws -> SimulatedStore {
    let store = try IdeaStore(
      directory: device.folder, container: device.container,
      deviceID: "\(device.account)-\(device.number)", clock: device.clock,
      automaticallySync: device.isAutomatic, makeID: device.newID, now: device.now,
      notificationCenter: NotificationCenter())
    let pushes = device.observePushes { [weak store] push in
      guard push.subscription.rawValue == IdeaStore.subscriptionID else { return }
      store?.receivedPush(recordName: push.query?.record.name)
    }
    store.start()
    return SimulatedStore(
      app: store,
      items: { store.ideas.map { ($0.id.uuidString, $0.canonicalText) } },
      canonicalText: { store.canonicalText },
      waitingCount: { store.status.pending },
      isWaiting: { key in
        UUID(uuidString: key).flatMap { store.syncState(of: $0)?.isPendingSync } ?? false
      },
      edit: { random in try edit(store, device, &random) },
      sync: { _ = try? await store.syncNow() },
      quit: {
        pushes?.stop()
        await store.stop()
      })
  }

  private static func edit(
    _ store: IdeaStore, _ device: DeviceSetting, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let ideas = store.ideas.sorted { $0.id.uuidString < $1.id.uuidString }
    let choice = random.below(20)
    guard ideas.count > random.below(6), choice > 2 else {
      return [
        wrote(
          try store.create(
            title: "\(random.below(99)) \(device.text(&random))",
            description: device.text(&random)))
      ]
    }
    let idea = random.below(4) == 0 ? random.pick(ideas) : ideas[random.below(min(2, ideas.count))]
    switch choice {
    case 3, 4:
      try store.delete(idea.id)
      let date = store.deletedIdeas.first { $0.idea.id == idea.id }?.deletedAt
      return [.removed(key: idea.id.uuidString, date: date?.timeIntervalSince1970)]
    case 5, 6:
      return [wrote(try store.update(idea.id, isCompleted: !idea.isCompleted))]
    case 7...9:
      return [wrote(try store.update(idea.id, title: "t \(device.text(&random))"))]
    default:
      return [wrote(try store.update(idea.id, description: device.text(&random)))]
    }
  }

  private static func wrote(_ idea: Idea) -> StoreEdit {
    var bytes = withUnsafeBytes(of: Int64(idea.version).bigEndian) { Array($0) }
    for text in [idea.deviceId, idea.title, idea.description] { bytes += Array(text.utf8) + [0] }
    return .wrote(
      key: idea.id.uuidString, line: idea.canonicalText,
      rank: EditRank(
        first: idea.updatedAt.timeIntervalSince1970,
        then: bytes + [idea.isCompleted ? 1 : 0]))
  }
}
