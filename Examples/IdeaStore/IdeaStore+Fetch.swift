import CloudSync
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
  static let idsPerRequest = 100
  /// How many records a page of names holds.
  private static let namesPerPage = 200

  /// What the cloud told in one pass.
  private struct News {
    var records: [CKRecord] = []
    var gone: [String] = []
    var highWater: Date?
    var isSweep = false
  }

  private var database: CKDatabase { container.privateCloudDatabase }

  /// Fetches what is new and takes it in.
  ///
  /// Nothing is taken in before the account was asked for again: an answer that another account's
  /// database gave must not be believed.
  func fetch(_ wants: IdeaCore.Wants, _ epoch: UInt64) async throws {
    let (settings, now) = core.state.withLock { ($0.settings, core.now()) }
    var news = News()
    var names = wants.names
    if isSweepDue(settings, wants, now) {
      try await sweep(isFirst: settings.highWater == nil, &names, &news)
    } else {
      try await incremental(since: settings.highWater, &names, &news)
    }
    try await fetch(names, &news)
    guard try await verifyAccount() == epoch else { throw CKError(.operationCancelled) }
    try core.state.withLock { state in
      guard state.epoch == epoch else { throw CKError(.operationCancelled) }
      take(news, &state)
    }
  }

  private func isSweepDue(
    _ settings: IdeaSettings, _ wants: IdeaCore.Wants, _ now: Date
  ) -> Bool {
    guard settings.highWater != nil, !wants.sweeps, let last = settings.lastSweep else {
      return true
    }
    // A clock that went back must not put it off for ever.
    let age = now.timeIntervalSince(last)
    let interval = timing.sweep.components
    return age < 0 || age >= Double(interval.seconds)
  }

  /// What the server changed lately, oldest first.
  private func incremental(
    since highWater: Date?, _ names: inout Set<String>, _ news: inout News
  ) async throws {
    let overlap = timing.overlap.components
    let start = (highWater ?? .distantPast).addingTimeInterval(
      -Double(overlap.seconds) - Double(overlap.attoseconds) * 1e-18)
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
        names.remove(id.recordName)
        if let date = record.modificationDate {
          news.highWater = max(news.highWater ?? date, date)
        }
      case .failure: names.insert(id.recordName)
      }
    }
  }

  /// Every record the cloud has: the first time whole, later by name and tag, and only those that
  /// differ are fetched.
  private func sweep(
    isFirst: Bool, _ names: inout Set<String>, _ news: inout News
  ) async throws {
    news.isSweep = true
    // Before the first page: what changes while pages come is found by the next query.
    news.highWater = try await newestChange() ?? Date(timeIntervalSince1970: 0)
    let known = core.state.withLock { state in
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
          names.insert(id.recordName)
        }
      case .failure: names.insert(id.recordName)
      }
    }
    names.formUnion(missing.keys)
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

  /// Fetches records by name; one that is not there was deleted.
  private func fetch(_ names: Set<String>, _ news: inout News) async throws {
    let sorted = names.sorted()
    for start in stride(from: 0, to: sorted.count, by: Self.idsPerRequest) {
      let chunk = sorted[start..<min(start + Self.idsPerRequest, sorted.count)]
      let (records, gone) = try await records(named: Array(chunk))
      news.records += records
      news.gone += gone
    }
  }

  /// The records of these names, and the names that have none; at most 100.
  func records(named names: [String]) async throws -> (records: [CKRecord], gone: [String]) {
    let ids = names.map { CKRecord.ID(recordName: $0, zoneID: IdeaRecord.zoneID) }
    let results = try await database.records(for: ids)
    var records: [CKRecord] = []
    var gone: [String] = []
    for id in ids {
      do {
        guard let record = try results[id]?.get() else { throw CKError(.internalError) }
        records.append(record)
      } catch let error as CKError where error.code == .unknownItem {
        gone.append(id.recordName)
      }
    }
    return (records, gone)
  }

  // MARK: Taking in

  private func take(_ news: News, _ state: inout IdeaCore.State) {
    var changes = 0
    for record in news.records {
      changes += core.take(record, &state) ? 1 : 0
    }
    for name in news.gone { changes += core.takeDeletion(of: name, &state) ? 1 : 0 }
    let now = core.now().wholeMilliseconds
    core.change(&state) { settings in
      settings.highWater = news.highWater
      if news.isSweep { settings.lastSweep = now }
    }
    if changes > 0 {
      core.log(
        news.isSweep ? .sweep : .download, "Changes that came from the cloud: \(changes).", &state)
    }
    core.flush(&state)
    if changes > 0 { state.tell() }
  }
}
