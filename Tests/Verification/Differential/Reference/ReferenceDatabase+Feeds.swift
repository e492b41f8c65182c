import CloudProtocol
import Records

/// The content of a token of the reference: its feed, and the position in it.
private struct Place {
  /// The feed: the account's database, or one incarnation of a zone.
  var feed: String
  /// Everything up to here was told.
  var position: Int
  /// The position at which a fetch from the beginning began; it does not report older deletions.
  var began: Int
  /// When it was handed out.
  var made: Int

  var token: ChangeToken {
    ChangeToken(bytes: Array("\(feed) \(position) \(began) \(made)".utf8))
  }

  init(feed: String, position: Int, began: Int, made: Int) {
    self.feed = feed
    self.position = position
    self.began = began
    self.made = made
  }

  init?(_ token: ChangeToken) {
    let words = String(decoding: token.bytes, as: UTF8.self).split(separator: " ")
    guard words.count == 4, let position = Int(words[1]), let began = Int(words[2]),
      let made = Int(words[3])
    else { return nil }
    self.init(feed: String(words[0]), position: position, began: began, made: made)
  }
}

extension ReferenceDatabase {
  func changes(_ fetch: FetchDatabaseChanges) throws(CloudError) -> DatabaseChangesPage {
    let start = try place(
      fetch.since, feed: "database/\(identity)", expiry: tokensExpireBefore, forgotten: forgotten,
      latest: now)
    var news = zones.filter { $0.key != ZoneID.defaultName }.map { (at: $0.value.changed, $0.key) }
    news += graves.filter { $0.value.at > start.began }.map { (at: $0.value.at, $0.key) }
    news = news.filter { $0.at > start.position }.sorted { $0.at < $1.at }
    let page = news.prefix(min(fetch.limit ?? Limits.databasePage, Limits.databasePage))
    var end = start
    let moreComing = page.count < news.count
    end.position = moreComing ? page.last?.at ?? start.position : now
    end.made = now
    return DatabaseChangesPage(
      modified: page.filter { zones[$0.1] != nil }.map { ZoneID(name: $0.1) },
      deleted: page.compactMap { item in
        graves[item.1].map { ZoneDeletion(zone: ZoneID(name: item.1), reason: $0.reason) }
      },
      token: end.token, moreComing: moreComing)
  }

  func changes(
    _ fetch: FetchZoneChanges, at place: ReferencePlace
  ) throws(CloudError) -> ZoneChangesPage {
    let zone = place.zone
    guard place.name != ZoneID.defaultName else { throw refusal(.invalidArguments) }
    let start = try self.place(
      fetch.since, feed: "zone/\(place.name)/\(zone.life)/\(identity)",
      expiry: zone.tokensExpireBefore, forgotten: zone.forgotten, latest: now)
    var news = zone.records.values.map { (at: $0.changed, $0.name) }
    news += zone.tombstones.filter { $0.value.at > start.began }
      .map { (at: $0.value.at, $0.key) }
    news = news.filter { $0.at > start.position }.sorted { $0.at < $1.at }
    let page = news.prefix(min(fetch.limit ?? Limits.zonePage, Limits.zonePage))
    var end = start
    let moreComing = page.count < news.count
    end.position = moreComing ? page.last?.at ?? start.position : now
    end.made = now
    return ZoneChangesPage(
      zone: place.id,
      modified: page.compactMap { item in
        guard var record = zone.records[item.1]?.record else { return nil }
        record.fields = fetch.fields.applied(to: record.fields)
        return place.outward(record)
      },
      deleted: page.compactMap { item in
        zone.tombstones[item.1].map {
          RecordDeletion(id: RecordID(name: item.1, zone: place.id), type: $0.type)
        }
      },
      token: end.token, moreComing: moreComing)
  }

  /// Where a fetch begins; a token of another feed, an expired one, and one that has not heard of
  /// a deletion that was forgotten are refused.
  private func place(
    _ token: ChangeToken?, feed: String, expiry: Int, forgotten: Int, latest: Int
  ) throws(CloudError) -> Place {
    guard let token else { return Place(feed: feed, position: 0, began: latest, made: latest) }
    guard let place = Place(token), place.feed == feed, place.made >= expiry,
      forgotten <= max(place.position, place.began)
    else { throw refusal(.changeTokenExpired) }
    return place
  }
}

/// The feeds of shared databases, and which feed a request is about.
///
/// A visitor's token stands for what its holder saw; a page is the difference to what is seen now.
extension ReferenceCloud {
  func changes(_ fetch: FetchDatabaseChanges, _ ask: Ask) throws(CloudError) -> DatabaseChangesPage
  {
    switch ask.scope {
    case .public: throw refusal(.invalidArguments)
    case .private: return try database(ask.home).changes(fetch)
    case .shared: break
    }
    let feed = "visits/\(ask.account)"
    let start =
      fetch.since.map { Place($0) }
      ?? Place(feed: feed, position: 0, began: sharedNow, made: sharedNow)
    guard let start, start.feed == feed else { throw refusal(.changeTokenExpired) }
    let news = visits.filter { $0.key.guest == ask.account && $0.value.changed > start.position }
      .sorted { $0.value.changed < $1.value.changed }
    return DatabaseChangesPage(
      modified: news.filter(\.value.isThere).map(\.key.id),
      deleted: news.filter { !$0.value.isThere && $0.value.changed > start.began }
        .map { ZoneDeletion(zone: $0.key.id, reason: .deleted) },
      token: Place(feed: feed, position: sharedNow, began: start.began, made: sharedNow).token,
      moreComing: false)
  }

  func changes(_ fetch: FetchZoneChanges, _ ask: Ask) throws(CloudError) -> ZoneChangesPage {
    if ask.scope == .public { throw refusal(.invalidArguments) }
    let place = try place(fetch.zone, ask)
    guard place.isVisit else { return try database(place.home).changes(fetch, at: place) }
    let key = ReferenceVisit.Key(guest: ask.account, owner: place.home, zone: place.name)
    let feed = "visit/\(key.guest)/\(key.owner)/\(key.zone)/\(visits[key]?.life ?? 0)"
    var known: [String: Int] = [:]
    if let token = fetch.since {
      guard let start = Place(token), start.feed == feed, views.indices.contains(start.position)
      else { throw refusal(.changeTokenExpired) }
      known = views[start.position]
    }
    let seen = Dictionary(
      place.seen.map { ($0, place.zone.records[$0]?.changed ?? 0) },
      uniquingKeysWith: { first, _ in first })
    views.append(seen)
    return ZoneChangesPage(
      zone: place.id,
      modified: place.seen.filter { known[$0] != seen[$0] }.compactMap { name in
        guard var record = place.record(name) else { return nil }
        record.fields = fetch.fields.applied(to: record.fields)
        return place.outward(record)
      },
      deleted: known.keys.sorted().filter { seen[$0] == nil }.map {
        RecordDeletion(id: RecordID(name: $0, zone: place.id), type: "")
      },
      token: Place(feed: feed, position: views.count - 1, began: 0, made: 0).token,
      moreComing: false)
  }
}
