import AnnotationStore
import CloudSyncTesting
import Foundation
import IdeaStore
import Synchronization

/// Gives out the IDs that a test wants its next items to have.
final class WantedID: Sendable {
  private let id = Mutex(UUID())

  func next() -> UUID { id.withLock { $0 } }

  func want(_ name: String) -> UUID {
    let wanted = itemID(name)
    id.withLock { $0 = wanted }
    return wanted
  }
}

/// Ideas in the default zone.
final class TestedIdeas: ConformingApp {
  private let store: IdeaStore
  private let ids = WantedID()

  init(_ surroundings: AppSurroundings) throws {
    let ids = ids
    store = try IdeaStore(
      directory: surroundings.folder, container: surroundings.container,
      deviceID: surroundings.device, clock: surroundings.clock, automaticallySync: false,
      makeID: { ids.next() }, now: { surroundings.now })
    store.start()
  }

  var items: [String: String] {
    Dictionary(store.ideas.map { ($0.title, $0.description) }) { $0 + " and " + $1 }
  }

  func write(_ text: String, as name: String) throws {
    let id = ids.want(name)
    if store.idea(id) != nil {
      try store.update(id, description: text)
    } else {
      try store.create(title: name, description: text)
    }
  }

  func delete(_ name: String) throws {
    if store.idea(itemID(name)) != nil { try store.delete(itemID(name)) }
  }

  func sync() async throws { try await store.syncNow() }
}

/// Annotations on one layer; what is deleted goes into the trash of all devices.
final class TestedAnnotations: ConformingApp {
  private let store: AnnotationStore
  private let ids = WantedID()

  init(_ surroundings: AppSurroundings) throws {
    let ids = ids
    store = try AnnotationStore(
      directory: surroundings.folder, container: surroundings.container,
      // It tries again within a sync, and a clock that stands would keep it there.
      clock: SimulatedClock(leapingOver: .seconds(60)), now: { surroundings.now },
      makeID: { ids.next() })
  }

  var items: [String: String] {
    Dictionary(store.annotations().map { ($0.title ?? "", $0.content.text) }) { $0 + " and " + $1 }
  }

  func write(_ text: String, as name: String) throws {
    let layer = ids.want("the layer of all items")
    if store.layer(layer) == nil { try store.addLayer(named: "Items") }
    let id = ids.want(name)
    if items[name] != nil {
      try store.edit(id) { $0.content.text = text }
    } else {
      try store.add(.init(title: name, text: text), to: layer)
    }
  }

  func delete(_ name: String) throws {
    if items[name] != nil { try store.deleteAnnotation(itemID(name)) }
  }

  func sync() async throws { try await store.sync(askedByPerson: true) }
}
