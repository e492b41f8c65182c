public import Foundation
public import SyncSupport

/// What can be asked of the ideas in the cloud.
public enum IdeaQuery: Hashable, Sendable {
  /// All ideas, last changed first.
  case all
  /// The completed ones, last changed first.
  case completed
  /// Those whose own date of change is after a moment, oldest first.
  case changed(since: Date)
  /// The one with an ID.
  case id(UUID)

  /// How many ideas a page holds.
  public static let pageSize = 100

  /// The query as CloudKit spells it.
  public var query: CKQuery {
    let (predicate, isAscending): (NSPredicate, Bool?) =
      switch self {
      case .all: (NSPredicate(value: true), false)
      case .completed: (NSPredicate(format: "isCompleted == %d", 1), false)
      case .changed(let moment):
        (NSPredicate(format: "updatedAt > %@", moment as any CVarArg), true)
      case .id(let id): (NSPredicate(format: "id == %@", id.uuidString), nil)
      }
    let query = CKQuery(recordType: IdeaRecord.recordType, predicate: predicate)
    query.sortDescriptors = isAscending.map {
      [NSSortDescriptor(key: "updatedAt", ascending: $0)]
    }
    return query
  }
}

/// A page of an answer.
public struct IdeaPage: Sendable {
  /// The ideas, in the order of the query.
  public var ideas: [Idea]
  /// The records that are no ideas this version can read, and why.
  public var unreadable: [(recordName: String, error: IdeaError)]
  /// Where the next page begins; `nil` after the last one.
  public var cursor: CKQueryOperation.Cursor?
}

extension IdeaStore {
  /// Asks the cloud itself, beside what the device holds; nothing is taken in.
  ///
  /// - Parameters:
  ///   - query: what is asked.
  ///   - cursor: where the last page ended; `nil` for the first page.
  ///   - limit: the most ideas of a page.
  /// - Throws: `CKError`.
  public func page(
    of query: IdeaQuery, after cursor: CKQueryOperation.Cursor? = nil,
    limit: Int = IdeaQuery.pageSize
  ) async throws -> IdeaPage {
    let database = container.privateCloudDatabase
    let answer =
      if let cursor {
        try await database.records(continuingMatchFrom: cursor, resultsLimit: limit)
      } else {
        try await database.records(
          matching: query.query, inZoneWith: IdeaRecord.zoneID, resultsLimit: limit)
      }
    var page = IdeaPage(ideas: [], unreadable: [], cursor: answer.queryCursor)
    for (id, result) in answer.matchResults {
      let record = try result.get()
      do throws(IdeaError) {
        page.ideas.append(try Idea(reading: record))
      } catch {
        page.unreadable.append((id.recordName, error))
      }
    }
    return page
  }
}
