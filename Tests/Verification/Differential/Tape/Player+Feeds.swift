import CloudProtocol
import Records
import SimulationSupport

/// A place in a feed that a device came to, and what it holds there.
struct Bookmark {
  /// The account and the database of the feed.
  let account: String
  let scope: DatabaseScope
  /// The zone whose feed it is; `nil` for the database's.
  let zone: ZoneID?
  let token: ChangeToken
  /// The records, or zones, that a device that read this far knows, by name.
  let held: [String: String]
}

/// Feeds: from anywhere to the end a device must come to hold what is there.
///
/// No document says how long a visitor's token lives, so one that is expired is dropped and the
/// feed read from its beginning, as engines do: what is held in the end must be the same.
extension Player {
  /// A place to go on from: mostly a fitting one, now and then another account's or zone's.
  mutating func randomBookmark() -> Int? {
    guard !bookmarks.isEmpty, random.chance(0.8) else { return nil }
    return random.chance(0.7)
      ? max(0, bookmarks.count - 1 - random.below(6)) : random.below(bookmarks.count)
  }

  /// The newest place of the feed at or before the chosen one, or the chosen one as it is.
  private mutating func place(_ index: Int?, _ zone: ZoneID?, _ site: Site) -> Bookmark? {
    guard let index else { return nil }
    if random.chance(0.12) { return bookmarks[index] }
    return bookmarks[...index].last {
      $0.zone == zone && $0.account == site.device.account && $0.scope == site.scope
    }
  }

  /// One page, or for a visitor whose token is expired the first one.
  private mutating func fetch(
    _ site: Site, since start: inout ChangeToken?, held: inout [String: String], limit: Int?
  ) async -> Result<CloudReply, CloudError> {
    var request = FetchZoneChanges(zone: site.zone, since: start, limit: limit, fields: feedFields)
    let answer = await send(.fetchZoneChanges(request), from: site.device, in: site.scope)
    guard site.scope == .shared, start != nil, case .failure(let error) = answer,
      error.code == .changeTokenExpired
    else { return answer }
    count(.expiredVisit)
    start = nil
    held = [:]
    request.since = nil
    return await send(.fetchZoneChanges(request), from: site.device, in: site.scope)
  }

  /// One page, which leaves a place in the middle behind.
  mutating func page(_ site: Site) async {
    let start = place(randomBookmark(), site.zone, site)
    let limit = 1 + random.below(5)
    let asked =
      "\(site.label) page of \(limit) of \(names.name(site.zone)) \(start == nil ? "" : "later")"
    var held = start?.held ?? [:]
    var token = start?.token
    let answer = await fetch(site, since: &token, held: &held, limit: limit)
    guard case .success(.zoneChanges(let page)) = answer else {
      return note(asked, describe(failure: answer))
    }
    apply(page, to: &held)
    bookmark(site, site.zone, page.token, held)
    note(asked, "", among: describe(page))
  }

  /// Everything up to the end: then the device holds what the zone holds.
  mutating func drain(_ site: Site, from index: Int?) async {
    let start = place(index, site.zone, site)
    let limit: Int? = random.chance(0.5) ? 1 + random.below(5) : nil
    let asked = "\(site.label) drain \(names.name(site.zone)) \(start == nil ? "" : "later")"
    var held = start?.held ?? [:]
    var token = start?.token
    var pages: [String] = []
    while pages.count < 100 {
      let answer = await fetch(site, since: &token, held: &held, limit: limit)
      guard case .success(.zoneChanges(let page)) = answer else {
        return note(asked, describe(failure: answer))
      }
      apply(page, to: &held)
      token = page.token
      pages.append(describe(page))
      if !page.moreComing { break }
    }
    if let token { bookmark(site, site.zone, token, held) }
    if site.scope == .shared, !held.isEmpty { count(.visitorSaw) }
    let all = held.sorted { $0.key < $1.key }.map(\.value)
    note(asked, all.joined(separator: "; "), among: pages.joined(separator: "|"))
  }

  mutating func drainDatabase(_ site: Site, from index: Int?) async {
    let start = place(index, nil, site)
    let asked = "\(site.label) drain the database \(start == nil ? "" : "later")"
    let limit = 1 + random.below(4)
    var held = start?.held ?? [:]
    var token = start?.token
    var pages: [String] = []
    var news: Set<String> = []
    while pages.count < 100 {
      let answer = await send(
        .fetchDatabaseChanges(FetchDatabaseChanges(since: token, limit: limit)),
        from: site.device, in: site.scope)
      guard case .success(.databaseChanges(let page)) = answer else {
        return note(asked, describe(failure: answer))
      }
      for zone in page.modified.map({ names.name($0) }) {
        held[zone] = zone
        news.insert("+\(zone)")
      }
      // That a zone came and went is no news to who never knew it; servers may say so.
      for deletion in page.deleted
      where held.removeValue(forKey: names.name(deletion.zone)) != nil {
        news.insert("-\(names.name(deletion.zone)) \(deletion.reason)")
      }
      token = page.token
      let words =
        page.modified.map { names.name($0) }
        + page.deleted.map { "-\(names.name($0.zone)):\($0.reason)" }
      pages.append("\(words.joined(separator: " ")) \(names.name(page.token))")
      if !page.moreComing { break }
    }
    if let token { bookmark(site, nil, token, held) }
    let all = held.keys.sorted() + ["news:"] + news.sorted()
    note(asked, all.joined(separator: " "), among: pages.joined(separator: "|"))
  }

  private mutating func bookmark(
    _ site: Site, _ zone: ZoneID?, _ token: ChangeToken, _ held: [String: String]
  ) {
    bookmarks.append(
      Bookmark(
        account: site.device.account, scope: site.scope, zone: zone, token: token, held: held))
  }

  private mutating func apply(_ page: ZoneChangesPage, to held: inout [String: String]) {
    for record in page.modified { held[record.id.name] = names.describe(record) }
    for deletion in page.deleted { held[deletion.id.name] = nil }
  }

  private mutating func describe(_ page: ZoneChangesPage) -> String {
    let modified = page.modified.map(\.id.name)
    let deleted = page.deleted.map { "-\($0.id.name):\($0.type)" }
    return (modified + deleted + [names.name(page.token)]).joined(separator: " ")
  }
}
