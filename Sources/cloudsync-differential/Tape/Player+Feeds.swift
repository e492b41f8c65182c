import CloudProtocol
import CloudSyncTesting
import Records

/// A place in a feed that a device came to, and what it holds there.
struct Bookmark {
  let account: String
  /// The zone whose feed it is; `nil` for the database's.
  let zone: ZoneID?
  let token: ChangeToken
  /// What a device that read this far knows: records, or zones, by name.
  let held: [String: String]
}

/// Feeds: from anywhere to the end a device must come to hold what is there.
extension Player {
  /// A place to go on from: mostly a fitting one, now and then another account's or zone's.
  mutating func randomBookmark() -> Int? {
    guard !bookmarks.isEmpty, random.chance(0.8) else { return nil }
    return random.chance(0.7)
      ? max(0, bookmarks.count - 1 - random.below(6)) : random.below(bookmarks.count)
  }

  /// The newest place of the feed at or before the chosen one, or the chosen one as it is.
  private mutating func place(_ index: Int?, _ zone: ZoneID?, _ device: Device) -> Bookmark? {
    guard let index else { return nil }
    if random.chance(0.12) { return bookmarks[index] }
    return bookmarks[...index].last { $0.zone == zone && $0.account == device.account }
  }

  /// One page, which leaves a place in the middle behind.
  mutating func page(_ zone: ZoneID, _ device: Device) async {
    let start = place(randomBookmark(), zone, device)
    let limit = 1 + random.below(5)
    let asked = "\(device.name) page of \(limit) of \(zone.name) \(start == nil ? "" : "later")"
    let answer = await send(
      .fetchZoneChanges(FetchZoneChanges(zone: zone, since: start?.token, limit: limit)),
      from: device)
    guard case .success(.zoneChanges(let page)) = answer else {
      return note(asked, describe(failure: answer))
    }
    var held = start?.held ?? [:]
    apply(page, to: &held)
    bookmarks.append(
      Bookmark(account: device.account, zone: zone, token: page.token, held: held))
    note(asked, "", among: describe(page))
  }

  /// Everything up to the end: then the device holds what the zone holds.
  mutating func drain(_ zone: ZoneID, _ device: Device, from index: Int?) async {
    let start = place(index, zone, device)
    let limit: Int? = random.chance(0.5) ? 1 + random.below(5) : nil
    let asked = "\(device.name) drain \(zone.name) \(start == nil ? "" : "later")"
    var held = start?.held ?? [:]
    var token = start?.token
    var pages: [String] = []
    while pages.count < 100 {
      let answer = await send(
        .fetchZoneChanges(FetchZoneChanges(zone: zone, since: token, limit: limit)), from: device)
      guard case .success(.zoneChanges(let page)) = answer else {
        return note(asked, describe(failure: answer))
      }
      apply(page, to: &held)
      token = page.token
      pages.append(describe(page))
      if !page.moreComing { break }
    }
    if let token {
      bookmarks.append(Bookmark(account: device.account, zone: zone, token: token, held: held))
    }
    let all = held.sorted { $0.key < $1.key }.map(\.value)
    note(asked, all.joined(separator: "; "), among: pages.joined(separator: "|"))
  }

  mutating func drainDatabase(_ device: Device, from index: Int?) async {
    let start = place(index, nil, device)
    let asked = "\(device.name) drain the database \(start == nil ? "" : "later")"
    let limit = 1 + random.below(4)
    var held = start?.held ?? [:]
    var token = start?.token
    var pages: [String] = []
    var news: Set<String> = []
    while pages.count < 100 {
      let answer = await send(
        .fetchDatabaseChanges(FetchDatabaseChanges(since: token, limit: limit)),
        from: device)
      guard case .success(.databaseChanges(let page)) = answer else {
        return note(asked, describe(failure: answer))
      }
      for zone in page.modified {
        held[zone.name] = zone.name
        news.insert("+\(zone.name)")
      }
      // That a zone came and went is no news to who never knew it; servers may say so.
      for deletion in page.deleted
      where held.removeValue(forKey: deletion.zone.name) != nil {
        news.insert("-\(deletion.zone.name) \(deletion.reason)")
      }
      token = page.token
      let words = page.modified.map(\.name) + page.deleted.map { "-\($0.zone.name):\($0.reason)" }
      pages.append("\(words.joined(separator: " ")) \(names.name(page.token))")
      if !page.moreComing { break }
    }
    if let token {
      bookmarks.append(Bookmark(account: device.account, zone: nil, token: token, held: held))
    }
    let all = held.keys.sorted() + ["news:"] + news.sorted()
    note(asked, all.joined(separator: " "), among: pages.joined(separator: "|"))
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
