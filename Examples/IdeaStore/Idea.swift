public import Foundation
import SyncSupport

/// One idea: a title, what there is to say about it, and whether it is done.
///
/// All dates are whole milliseconds, so that an idea comes back from the cloud byte for byte.
public struct Idea: Hashable, Sendable, Codable, Identifiable {
  /// Names the idea; its record's name too.
  public internal(set) var id: UUID

  /// What it is called; 1 to 256 characters.
  public var title: String

  /// What there is to say about it; up to 4,096 characters, often none.
  public var description: String

  /// Whether it is done.
  public var isCompleted: Bool

  /// When it was made.
  public let createdAt: Date

  /// When it was last changed, by the clock of the device that did; never before `createdAt`.
  public var updatedAt: Date

  /// The device that last changed it.
  public var deviceId: String

  /// How often it was changed: 0 for a new one, one more with each change.
  public var version: Int

  /// Puts an idea together; nothing is checked before ``validate()``.
  public init(
    id: UUID, title: String, description: String = "", isCompleted: Bool = false,
    createdAt: Date, updatedAt: Date? = nil, deviceId: String, version: Int = 0
  ) {
    self.id = id
    self.title = title
    self.description = description
    self.isCompleted = isCompleted
    self.createdAt = createdAt.roundedToMilliseconds
    self.updatedAt = (updatedAt ?? createdAt).roundedToMilliseconds
    self.deviceId = deviceId
    self.version = version
  }

  /// Whether this version of an idea wins over another one of the same idea.
  ///
  /// The later `updatedAt` wins. Of the same moment the higher `version` wins, then the greater
  /// `deviceId`, and, for a device that was restored and lived twice, the greater content. No two
  /// different versions are equal, so every device picks the same one whatever the order in which
  /// it meets them.
  public func wins(over other: Idea) -> Bool {
    if updatedAt != other.updatedAt { return updatedAt > other.updatedAt }
    if version != other.version { return version > other.version }
    let mine = [deviceId, title, description, isCompleted ? "1" : "0"]
    let theirs = [other.deviceId, other.title, other.description, other.isCompleted ? "1" : "0"]
    for (my, their) in zip(mine, theirs) where !my.utf8.elementsEqual(their.utf8) {
      return their.utf8.lexicographicallyPrecedes(my.utf8)
    }
    return createdAt > other.createdAt
  }

  /// Whether two versions are the same to the byte; `==` takes texts that only read alike for one.
  func isSame(as other: Idea) -> Bool { !wins(over: other) && !other.wins(over: self) }

  /// The order people see: last changed first, of the same moment by ID.
  static func isListedBefore(_ first: Idea, _ second: Idea) -> Bool {
    first.updatedAt == second.updatedAt
      ? first.id.uuidString < second.id.uuidString : first.updatedAt > second.updatedAt
  }
}
