import Foundation
import SyncSupport
import Synchronization

/// What is new in a zone without a change feed, by queries.
///
/// Three ways, each for what the others miss. A query for the date of change that the *server*
/// gave each record, beginning a little before the latest one seen: no device's clock matters, and
/// equal moments at the edge of a page are seen twice and not never. The records that pushes name,
/// by their IDs, so deletions are seen at once. A comparison of all names and tags, at the first
/// sync, by hand, after lost pushes and once an hour: whatever the two missed, and deletions above
/// all. A query may be late, so what it does not show counts as deleted only when a fetch by ID,
/// which never is, says so too.
extension IdeaStore {
  /// How many records a request asks for by ID.
  private static let idsPerRequest = 100
  /// How many records a page of names holds.
  private static let namesPerPage = 200

  /// What the cloud told in one pass.
  private struct News {
    /// The names of the records to fetch by ID.
    var names: Set<String>
    var isSweep: Bool
    var records: [CKRecord] = []
    var highWater: Date?
  }

  private var database: CKDatabase { container.privateCloudDatabase }

  /// Fetches what is new and takes it in.
  ///
  /// Nothing is taken in before the account was asked for again: an answer that another account's
  /// database gave must not be believed.
  func fetch(_ wants: IdeaState.Wants, _ generation: Int) async throws {
    let settings = state.withLock(\.settings)
    var news = News(names: wants.names, isSweep: isSweepDue(settings, wants))
    if news.isSweep {
      try await sweep(isFirst: settings.highWater == nil, &news)
    } else {
      try await incremental(since: settings.highWater, &news)
    }
    let named = try await records(named: news.names.sorted())
    guard try await verifyAccount() == generation else { throw AccountChanged() }
    try change(in: generation) { state in
      var changes = 0
      for record in news.records + named.records { changes += state.take(record) ? 1 : 0 }
      for name in named.gone { changes += state.takeDeletion(of: name) ? 1 : 0 }
      state.settings.highWater = news.highWater
      if news.isSweep { state.settings.lastSweep = now().roundedToMilliseconds }
      guard changes > 0 else { return }
      state.note(
        news.isSweep ? .sweep : .download, "Changes that came from the cloud: \(changes).")
      state.tell()
    }
  }

  private func isSweepDue(_ settings: IdeaSettings, _ wants: IdeaState.Wants) -> Bool {
    guard settings.highWater != nil, !wants.sweeps, let last = settings.lastSweep else {
      return true
    }
    // A clock that went back must not put it off for ever.
    let age = now().timeIntervalSince(last)
    return age < 0 || age >= Double(timing.sweep.components.seconds)
  }

  /// What the server changed lately, oldest first.
  private func incremental(since highWater: Date?, _ news: inout News) async throws {
    let start = (highWater ?? .distantPast).addingTimeInterval(-(timing.overlap / .seconds(1)))
    let query = CKQuery(
      recordType: IdeaRecord.recordType,
      predicate: NSPredicate(format: "modificationDate >= %@", start as any CVarArg))
    query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: true)]
    news.highWater = highWater
    let matches = try await matches(query, desiredKeys: nil, limit: IdeaQuery.pageSize)
    for (id, result) in matches {
      switch result {
      case .success(let record):
        news.records.append(record)
        news.names.remove(id.recordName)
        if let date = record.modificationDate {
          news.highWater = max(news.highWater ?? date, date)
        }
      case .failure: news.names.insert(id.recordName)
      }
    }
  }

  /// Every record the cloud has: the first time whole, later by name and tag, and only those that
  /// differ are fetched.
  private func sweep(isFirst: Bool, _ news: inout News) async throws {
    // Before the first page: what changes while pages come is found by the next query.
    news.highWater = try await newestChange() ?? Date(timeIntervalSince1970: 0)
    let known = state.withLock { state in
      state.shelf.rows.values.compactMap { row in row.tag.map { (row.name, $0) } }
    }
    var missing = Dictionary(known) { $1 }
    let query = CKQuery(recordType: IdeaRecord.recordType, predicate: NSPredicate(value: true))
    let matches = try await matches(
      query, desiredKeys: isFirst ? nil : [], limit: Self.namesPerPage)
    for (id, result) in matches {
      let tag = missing.removeValue(forKey: id.recordName)
      switch result {
      case .success(let record):
        if isFirst {
          news.records.append(record)
        } else if tag == nil || tag != record.recordChangeTag {
          news.names.insert(id.recordName)
        }
      case .failure: news.names.insert(id.recordName)
      }
    }
    news.names.formUnion(missing.keys)
  }

  private func newestChange() async throws -> Date? {
    let query = CKQuery(recordType: IdeaRecord.recordType, predicate: NSPredicate(value: true))
    query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
    let page = try await database.records(
      matching: query, inZoneWith: IdeaRecord.zoneID, desiredKeys: [], resultsLimit: 1)
    return try page.matchResults.first?.1.get().modificationDate
  }

  /// Every match of a query, fetched page by page.
  private func matches(
    _ query: CKQuery, desiredKeys: [CKRecord.FieldKey]?, limit: Int
  ) async throws -> [(CKRecord.ID, Result<CKRecord, any Error>)] {
    var page = try await database.records(
      matching: query, inZoneWith: IdeaRecord.zoneID, desiredKeys: desiredKeys,
      resultsLimit: limit)
    var matches = page.matchResults
    while let cursor = page.queryCursor {
      page = try await database.records(
        continuingMatchFrom: cursor, desiredKeys: desiredKeys, resultsLimit: limit)
      matches += page.matchResults
    }
    return matches
  }

  /// The records of these names, and the names that have none.
  func records(named names: [String]) async throws -> (records: [CKRecord], gone: [String]) {
    var records: [CKRecord] = []
    var gone: [String] = []
    for names in names.chunks(of: Self.idsPerRequest) {
      let ids = names.map { CKRecord.ID(recordName: $0, zoneID: IdeaRecord.zoneID) }
      let results = try await database.records(for: ids)
      for id in ids {
        do {
          guard let record = try results[id]?.get() else { throw CKError(.internalError) }
          records.append(record)
        } catch let error as CKError where error.code == .unknownItem {
          gone.append(id.recordName)
        }
      }
    }
    return (records, gone)
  }
}
