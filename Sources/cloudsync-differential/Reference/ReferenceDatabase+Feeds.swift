import CloudProtocol
import Records

/// What a token of the reference says: which feed it is of, and how far it got.
private struct Place {
  /// Which feed: the account's database, or one life of one zone.
  var feed: String
  /// Everything up to here was told.
  var position: Int
  /// Where a fetch from the beginning began: deletions until then are no news to it.
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

  func changes(_ fetch: FetchZoneChanges) throws(CloudError) -> ZoneChangesPage {
    guard let zone = zones[fetch.zone.name] else { throw missing(fetch.zone) }
    guard fetch.zone.name != ZoneID.defaultName else { throw refusal(.invalidArguments) }
    let start = try place(
      fetch.since, feed: "zone/\(fetch.zone.name)/\(zone.life)/\(identity)",
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
      zone: fetch.zone,
      modified: page.compactMap { item in
        guard var record = zone.records[item.1]?.record else { return nil }
        record.fields = fetch.fields.applied(to: record.fields)
        return record
      },
      deleted: page.compactMap { item in
        zone.tombstones[item.1].map {
          RecordDeletion(id: RecordID(name: item.1, zone: fetch.zone), type: $0.type)
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
