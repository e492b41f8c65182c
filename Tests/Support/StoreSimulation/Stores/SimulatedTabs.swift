import Foundation
import SimulationSupport
import SyncSupport
import TabStore

extension SimulatedStore {
  /// Scratch tabs; a later version wins, and an edit nobody has seen wins over a deletion.
  static func tabs(_ device: DeviceSetting) throws -> SimulatedStore {
    let store = try device.itsypad()
    let tabs = TabStore(store)
    return SimulatedStore(
      app: tabs,
      items: { tabs.tabs.filter(\.isScratch).map { ($0.id.uuidString, line($0)) } },
      // A tab that was saved to a file is this device's own, whatever others do.
      privateKeys: { Set(tabs.tabs.filter { !$0.isScratch }.map(\.id.uuidString)) },
      contradictions: {
        Set(store.status.activity.conflicts.filter { $0.resolution != .equal }.map(\.name))
      },
      waitingCount: { store.status.unsentCount },
      isWaiting: { UUID(uuidString: $0).map(tabs.isUnsent) ?? false },
      edit: { random in try edit(tabs, device, &random) },
      sync: { try? await store.sync() },
      quit: { try? await store.shutDown() })
  }

  private static func edit(
    _ tabs: TabStore, _ device: DeviceSetting, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let scratch = tabs.tabs.filter(\.isScratch).sorted { $0.id.uuidString < $1.id.uuidString }
    let choice = random.below(20)
    guard scratch.count > random.below(6), choice > 2 else {
      return try open(tabs, device, &random)
    }
    // Mostly the same few, so that devices meet.
    let tab =
      random.below(4) == 0 ? random.pick(scratch) : scratch[random.below(min(2, scratch.count))]
    switch choice {
    case 3, 4:
      try tabs.close(tab.id)
      return [.removed(key: tab.id.uuidString)]
    case 5 where random.below(4) == 0:
      try tabs.edit(tab.id, now: device.now()) { $0.fileURL = URL(fileURLWithPath: "/a/b.txt") }
      return [.removed(key: tab.id.uuidString)]
    case 6:
      let language = random.pick(["swift", "plain", "markdown"])
      return try changed(tab, to: tabs.updateLanguage(tab.id, language, now: device.now()))
    case 7, 8:
      let name = device.text(&random)
      return try changed(tab, to: tabs.edit(tab.id, now: device.now()) { $0.name = name })
    default:
      let content = device.text(&random)
      return try changed(tab, to: tabs.updateContent(tab.id, content, now: device.now()))
    }
  }

  private static func open(
    _ tabs: TabStore, _ device: DeviceSetting, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let tab = ScratchTab(
      id: device.newID(), name: "Tab \(random.below(9))", content: device.text(&random),
      lastModified: device.now(),
      fileURL: random.below(12) == 0 ? URL(fileURLWithPath: "/a/c.txt") : nil)
    try tabs.add(tab)
    return tab.isScratch ? [wrote(tab)] : []
  }

  private static func changed(_ before: ScratchTab, to after: ScratchTab?) -> [StoreEdit] {
    guard let after, after != before else { return [] }
    return [wrote(after)]
  }

  private static func wrote(_ tab: ScratchTab) -> StoreEdit {
    var bytes: [UInt8] = []
    for text in [tab.content, tab.name, tab.language] { bytes += Array(text.utf8) + [0] }
    return .wrote(
      key: tab.id.uuidString, line: line(tab),
      rank: EditRank(
        first: tab.lastModified.timeIntervalSinceReferenceDate,
        then: bytes + [tab.languageLocked ? 1 : 0]))
  }

  private static func line(_ tab: ScratchTab) -> String {
    visible([
      tab.name, tab.content, tab.language, "\(tab.languageLocked)", tab.lastModified.bits,
    ])
  }
}
