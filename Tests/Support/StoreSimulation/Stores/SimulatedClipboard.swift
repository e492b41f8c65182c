import ClipboardStore
import Foundation
import SimulationSupport
import SyncSupport

extension SimulatedStore {
  /// The clipboard: entries never change, and a deletion always wins.
  static func clipboard(_ device: DeviceSetting) throws -> SimulatedStore {
    let store = try device.itsypad()
    let clipboard = ClipboardStore(store)
    return SimulatedStore(
      app: clipboard,
      items: { clipboard.entries.filter(\.isText).map { ($0.id.uuidString, line($0)) } },
      waitingCount: { store.status.unsentCount },
      isWaiting: { UUID(uuidString: $0).map(clipboard.isUnsent) ?? false },
      edit: { random in try edit(clipboard, device, &random) },
      sync: { try? await store.sync() },
      quit: { try? await store.shutDown() })
  }

  private static func edit(
    _ clipboard: ClipboardStore, _ device: DeviceSetting, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let before = clipboard.entries
    switch random.below(40) {
    case 0...11:
      guard !before.isEmpty else { return [] }
      try clipboard.delete(random.pick(before).id)
    case 12: try clipboard.prune(olderThan: 1_800, now: device.now())
    case 13 where random.below(4) == 0: try clipboard.clear()
    case 14:
      try clipboard.add(
        ClipboardEntry(
          id: device.newID(), content: .image(fileName: "a.png"), timestamp: device.now()))
    default:
      let entries = (0...random.below(2)).map { _ in
        ClipboardEntry(id: device.newID(), text: device.text(&random), timestamp: device.now())
      }
      try clipboard.add(entries)
      return entries.map { .wrote(key: $0.id.uuidString, line: line($0)) }
    }
    let left = Set(clipboard.entries.map(\.id))
    return before.filter { $0.isText && !left.contains($0.id) }.map {
      .removed(key: $0.id.uuidString)
    }
  }

  private static func line(_ entry: ClipboardEntry) -> String {
    visible([entry.text ?? "", entry.timestamp.bits])
  }
}
