import Foundation

/// Why an idea, typed in or from the cloud, is none.
public enum IdeaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The ID is absent or no UUID.
  case idIsNoUUID
  /// The record carries another name than the idea's ID.
  case nameIsNotID
  /// The title has no characters.
  case titleIsEmpty
  /// The title has more than 256 characters.
  case titleIsTooLong(count: Int)
  /// The description has more than 4,096 characters.
  case descriptionIsTooLong(count: Int)
  /// The state of completion is neither 0 nor 1.
  case isCompletedIsNotZeroOrOne
  /// A date is not one that ISO 8601 can write.
  case dateIsInvalid(field: String)
  /// The last change is said to be before the idea was made.
  case updatedBeforeCreated
  /// The device that changed it is not named.
  case deviceIdIsEmpty
  /// The version is below 0.
  case versionIsNegative
  /// The record is of another type, or lives in another zone or database.
  case isForeign
  /// A field that has no default is missing.
  case lacks(field: String)
  /// A field holds another kind of value than this version of the app knows.
  case isUnreadable(field: String)
  /// There is no such idea.
  case notFound
  /// The idea was deleted.
  case isDeleted

  /// One sentence for people, without any of the content.
  public var description: String {
    switch self {
    case .idIsNoUUID: "the id is no UUID"
    case .nameIsNotID: "the record's name is not the idea's id"
    case .titleIsEmpty: "the title is empty; give at least one character"
    case .titleIsTooLong(let count):
      "the title has \(count) characters; \(Idea.titleLimit) is the most"
    case .descriptionIsTooLong(let count):
      "the description has \(count) characters; \(Idea.descriptionLimit) is the most"
    case .isCompletedIsNotZeroOrOne: "isCompleted is neither 0 nor 1"
    case .dateIsInvalid(let field): "\(field) is no date"
    case .updatedBeforeCreated: "updatedAt is before createdAt"
    case .deviceIdIsEmpty: "the deviceId is empty"
    case .versionIsNegative: "the version is negative"
    case .isForeign: "the record is no idea"
    case .lacks(let field): "the record lacks the field \(field)"
    case .isUnreadable(let field):
      "the record's field \(field) can't be read by this version of the app"
    case .notFound: "there is no such idea"
    case .isDeleted: "the idea was deleted"
    }
  }
}

extension Idea {
  /// The most characters a title has, as people count them.
  public static let titleLimit = 256

  /// The most characters a description has, as people count them.
  public static let descriptionLimit = 4_096

  /// The dates ISO 8601 writes with four digits of a year: from 0001 to the end of 9999, in
  /// seconds since 1970.
  private static let writableSeconds = -62_135_596_800.0..<253_402_300_800.0

  /// Checks every rule; the same for what is typed in and for what comes from the cloud.
  ///
  /// That the ID is a UUID and that the state is one of two is what the types say already; of a
  /// record ``init(reading:)`` checks it.
  /// - Throws: the first rule that is broken.
  public func validate() throws(IdeaError) {
    guard !title.isEmpty else { throw .titleIsEmpty }
    guard title.count <= Self.titleLimit else { throw .titleIsTooLong(count: title.count) }
    guard description.count <= Self.descriptionLimit else {
      throw .descriptionIsTooLong(count: description.count)
    }
    for (field, date) in [("createdAt", createdAt), ("updatedAt", updatedAt)] {
      guard Self.writableSeconds.contains(date.timeIntervalSince1970) else {
        throw .dateIsInvalid(field: field)
      }
    }
    guard updatedAt >= createdAt else { throw .updatedBeforeCreated }
    guard !deviceId.isEmpty else { throw .deviceIdIsEmpty }
    guard version >= 0 else { throw .versionIsNegative }
  }
}
