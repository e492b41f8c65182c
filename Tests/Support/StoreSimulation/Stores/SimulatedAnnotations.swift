import AnnotationStore
import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SimulationSupport
import SyncSupport
import Synchronization

extension SimulatedStore {
  /// Layers, annotations and comments, merged field by field, on layers that may be shared.
  static func annotations(_ device: DeviceSetting) throws -> SimulatedStore {
    let store = try AnnotationStore(
      directory: device.folder, container: device.container, batchSize: 7, clock: device.clock,
      now: device.now, makeID: device.newID)
    let coordinator = AnnotationCoordinator(
      store: store, network: NetworkMonitor(SimulatedLink()), clock: device.clock)
    let pushes = device.observePushes { [weak coordinator] _ in coordinator?.requestSync() }
    if device.isAutomatic {
      Task.detached { [weak coordinator] in await coordinator?.startSync() }
    }
    let user = AnnotationUser(device: device, store: store)
    return SimulatedStore(
      app: store,
      items: { user.items },
      canonicalText: {
        store.orphans.map { "\($0.id.uuidString) \($0.content.text)" }.sorted()
          .joined(separator: "\n")
      },
      sharedItems: { user.sharedItems },
      trouble: { user.trouble },
      waitingCount: { store.waitingCount },
      isWaiting: { key in
        store.pendingOperations.contains { $0.id.uuidString == key.suffix(36) }
      },
      edit: { random in try user.edit(&random) },
      sync: { try? await store.sync(askedByPerson: true) },
      // What hangs under something that is gone for good needs a person, who gives it up.
      giveUpRefused: {
        for refusal in store.refusals { try store.discardEdits(of: refusal.id) }
      },
      share: {
        let layer = try store.addLayer(named: "Shared")
        for number in 0..<3 { try store.add(.init(text: "shared \(number)"), to: layer.id) }
        try await store.sync()
        return try await store.share(layer.id, with: [.anyoneWithLink])
      },
      join: { try await store.accept($0) },
      quit: {
        pushes?.stop()
        await coordinator.stopSync()
      })
  }
}

/// The user of a store of annotations.
private final class AnnotationUser: Sendable {
  private let device: DeviceSetting
  private let store: AnnotationStore
  /// What was put into the trash here, to be taken out again.
  private let trash = Mutex<[UUID]>([])

  init(device: DeviceSetting, store: AnnotationStore) {
    self.device = device
    self.store = store
  }

  var items: SimulatedStore.Items {
    store.canonicalLines.map { line in
      let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      return (parts.prefix(2).joined(separator: " "), line)
    }
  }

  private var lines: [String: String] {
    Dictionary(items.map { ($0.key, $0.line) }, uniquingKeysWith: { $1 })
  }

  var sharedItems: SimulatedStore.Items {
    let layers = Set(store.layers.filter { store.isShared($0.id) }.map(\.id))
    let annotations = Set(
      store.annotations().filter { layers.contains($0.layerID) }.map(\.id))
    let comments = store.comments().filter { annotations.contains($0.annotationID) }.map(\.id)
    let names = Set((Array(layers) + Array(annotations) + comments).map(\.uuidString))
    return items.filter { names.contains(String($0.key.suffix(36))) }
  }

  var trouble: String {
    let refusals = store.refusals.map { "\($0.id.uuidString) refused (\($0.code)): \($0.message)" }
    let waiting = store.pendingOperations.map { "\($0.type) of \($0.recordID)" }
    return (refusals + waiting + ["\(store.conflicts.count) conflicts"]).joined(separator: "; ")
  }

  func edit(_ random: inout SeededRandom) throws -> [StoreEdit] {
    let before = lines
    do {
      try change(&random)
    } catch is AnnotationError {
      // Not allowed, or gone meanwhile; then nothing happened.
      guard lines == before else { throw BrokenPromise("a refused edit changed something") }
    }
    let after = lines
    return Set(before.keys).union(after.keys).sorted().compactMap { key in
      guard before[key] != after[key] else { return nil }
      return after[key].map { .wrote(key: key, line: $0) } ?? .removed(key: key)
    }
  }

  private func change(_ random: inout SeededRandom) throws {
    let layers = store.layers.map(\.id).sorted { $0.uuidString < $1.uuidString }
    let annotations = store.annotations().map(\.id).sorted { $0.uuidString < $1.uuidString }
    let choice = random.below(40)
    guard !layers.isEmpty, choice > 1 else {
      try store.addLayer(named: device.text(&random))
      return
    }
    let layer = layers[random.below(min(3, layers.count))]
    guard annotations.count > random.below(6), choice > 9 else {
      try store.add(.init(text: device.text(&random)), to: layer)
      return
    }
    let annotation =
      random.below(3) == 0
      ? random.pick(annotations) : annotations[random.below(min(2, annotations.count))]
    let text = device.text(&random)
    switch choice {
    case 10, 11:
      try store.deleteAnnotation(annotation)
      trash.withLock { $0.append(annotation) }
    case 12:
      try store.deleteLayer(layer)
      trash.withLock { $0.append(layer) }
    case 13, 14:
      if let gone = trash.withLock({ $0.popLast() }) { try store.restore(gone) }
    case 15: try store.emptyTrash(olderThan: random.pick([-1, 600]))
    case 16, 17: _ = try store.move(annotation, to: layer)
    case 18, 19: try attach(text, to: annotation)
    case 20: try store.detach(from: annotation)
    case 21...23: try store.comment(on: annotation, text: text)
    case 24, 25: try store.rename(layer, to: text)
    case 26...29:
      let place = Float(random.below(100))
      try store.edit(annotation) { $0.position = [place, place + 1, -place] }
    case 30, 31: try store.edit(annotation) { $0.title = text }
    case 32: try discardNew()
    default: try store.edit(annotation) { $0.content.text = text }
    }
  }

  /// Discards the newest annotation of which no answer says that the cloud has it.
  private func discardNew() throws {
    let new = store.annotations().last { $0.cloudKitRecordName == nil }
    if let new { try store.discardEdits(of: new.id) }
  }

  private func attach(_ text: String, to annotation: UUID) throws {
    let file = device.folder.deletingLastPathComponent()
      .appendingPathComponent("picture-\(device.newID().uuidString)")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try store.attach(file, to: annotation)
  }
}
