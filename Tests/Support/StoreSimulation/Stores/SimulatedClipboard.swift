import ClipboardStore
import Foundation
import SimulationSupport
import SyncSupport

/// The clipboard: entries never change, and a deletion always wins.
final class SimulatedClipboard: SimulatedStore {
  private let device: DeviceSetting
  private let clipboard: ClipboardStore
  private let app: EngineApp

  init(_ device: DeviceSetting) throws {
    self.device = device
    clipboard = try ClipboardStore(directory: device.folder)
    app = try EngineApp(device, [clipboard])
  }

  var lines: [String: String] {
    Self.joined(
      clipboard.entries.filter(\.isText).map { ($0.id.uuidString, Self.line($0)) })
  }

  var waitingCount: Int { clipboard.unsentCount + app.engine.pendingCount }

  func isWaiting(_ key: String) -> Bool { UUID(uuidString: key).map(clipboard.isUnsent) ?? false }

  func sync() async { await app.sync() }

  func quit() async { await app.quit() }

  func edit(_ random: inout SeededRandom) throws -> [StoreEdit] {
    let before = clipboard.entries
    switch random.below(40) {
    case 0...11:
      guard !before.isEmpty else { return [] }
      try clipboard.delete(random.pick(before).id)
      return removed(before)
    case 12:
      try clipboard.prune(olderThan: 1_800, now: device.now())
      return removed(before)
    case 13 where random.below(4) == 0:
      try clipboard.clear()
      return removed(before)
    case 14:
      try clipboard.add(
        ClipboardEntry(
          id: device.newID(), content: .image(fileName: "a.png"), timestamp: device.now()))
      return []
    default:
      let entries = (0...random.below(2)).map { _ in
        ClipboardEntry(
          id: device.newID(), text: device.text(&random), timestamp: device.now())
      }
      try clipboard.add(entries)
      return entries.map {
        .wrote(key: $0.id.uuidString, line: Self.line($0))
      }
    }
  }

  private func removed(_ before: [ClipboardEntry]) -> [StoreEdit] {
    let left = Set(clipboard.entries.map(\.id))
    return before.filter { $0.isText && !left.contains($0.id) }.map {
      .removed(key: $0.id.uuidString)
    }
  }

  private static func line(_ entry: ClipboardEntry) -> String {
    visible([entry.text ?? "", entry.timestamp.bits])
  }
}
