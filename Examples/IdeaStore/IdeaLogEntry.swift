public import Foundation
import SyncSupport

/// One line of the sync log; it names ideas by their IDs and shows none of their content.
public struct IdeaLogEntry: Hashable, Sendable, Codable {
  /// How many lines are kept.
  public static let limit = 200

  /// What the line is about.
  public enum Operation: String, Hashable, Sendable, Codable {
    /// An idea was made on this device.
    case create
    /// An idea was changed on this device.
    case update
    /// An idea was deleted on this device.
    case delete
    /// Ideas were read from a file.
    case `import`
    /// The cloud took ideas or deletions.
    case upload
    /// Ideas came from the cloud, or were deleted there.
    case download
    /// Two versions of an idea met.
    case conflict
    /// Every name in the cloud was compared.
    case sweep
    /// Another account, or none, is signed in.
    case account
    /// Something did not succeed.
    case failure
    /// A file of this store was damaged.
    case damage
  }

  /// When it happened.
  public var date: Date
  /// What it is about.
  public var operation: Operation
  /// The idea it is about, when it is one.
  public var ideaID: UUID?
  /// What happened, in one sentence.
  public var message: String

  /// Writes a line.
  public init(date: Date, operation: Operation, ideaID: UUID? = nil, message: String) {
    self.date = date.roundedToMilliseconds
    self.operation = operation
    self.ideaID = ideaID
    self.message = message
  }
}
