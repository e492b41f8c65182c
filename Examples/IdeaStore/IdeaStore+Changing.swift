public import Foundation
import SyncSupport
import Synchronization

/// What people do with ideas.
extension IdeaStore {
  /// Makes an idea: version 0, not completed.
  ///
  /// - Throws: `IdeaError` for the first rule it breaks, `FileError` when it can't be written down;
  ///   nothing is made then.
  @discardableResult
  public func create(title: String, description: String = "") throws -> Idea {
    let idea = Idea(
      id: makeID(), title: title, description: description, createdAt: now(),
      deviceId: deviceID)
    try add([idea], [entry(.create, idea.id, "Made.")])
    return idea
  }

  /// Adds ideas as they are, all or none.
  func add(_ ideas: [Idea], _ entries: [IdeaLogEntry]) throws {
    for idea in ideas { try idea.validate() }
    let rows = ideas.map { IdeaRow(name: $0.id.uuidString, idea: $0) }
    try state.withLock { try $0.commit(rows, entries) }
  }

  /// Changes an idea: one version more, changed now by this device.
  ///
  /// `updatedAt` is never before what it replaces, so a clock that went back loses no change.
  /// - Parameters:
  ///   - title: the new title; `nil` leaves it.
  ///   - description: the new description; `nil` leaves it.
  ///   - isCompleted: the new state; `nil` leaves it.
  /// - Throws: `IdeaError`, or `FileError` when it can't be written down; nothing is changed then.
  @discardableResult
  public func update(
    _ id: UUID, title: String? = nil, description: String? = nil, isCompleted: Bool? = nil
  ) throws -> Idea {
    try state.withLock { state in
      var (row, idea) = try Self.visible(id, state)
      idea.title = title ?? idea.title
      idea.description = description ?? idea.description
      idea.isCompleted = isCompleted ?? idea.isCompleted
      idea.updatedAt = max(now().roundedToMilliseconds, idea.updatedAt)
      idea.deviceId = deviceID
      idea.version = idea.version == .max ? .max : idea.version + 1
      try idea.validate()
      row.idea = idea
      try state.commit([row], [entry(.update, id, "Version \(idea.version).")])
      return idea
    }
  }

  /// Deletes an idea: marked here with the moment, and deleted in the cloud when that is possible.
  ///
  /// - Throws: `IdeaError`, or `FileError` when it can't be written down; the idea stays then.
  public func delete(_ id: UUID) throws {
    try state.withLock { state in
      var (row, idea) = try Self.visible(id, state)
      row.deletedAt = max(now().roundedToMilliseconds, idea.updatedAt)
      row.isDeletedHere = true
      try state.commit([row], [entry(.delete, idea.id, "Deleted.")])
    }
  }

  /// A line of the log, of now.
  func entry(
    _ operation: IdeaLogEntry.Operation, _ id: UUID?, _ message: String
  ) -> IdeaLogEntry {
    IdeaLogEntry(date: now(), operation: operation, ideaID: id, message: message)
  }

  private static func visible(
    _ id: UUID, _ state: IdeaState
  ) throws(IdeaError) -> (IdeaRow, Idea) {
    guard let row = state.shelf[id.uuidString], let idea = row.idea else { throw .notFound }
    guard row.deletedAt == nil else { throw .isDeleted }
    guard row.isVisible else { throw .notFound }
    return (row, idea)
  }
}
