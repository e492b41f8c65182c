import CloudProtocol
import Records

/// Records by their IDs and by queries, files, and zones that come and go.
extension ReferenceCloud {
  func records(
    _ fetch: FetchRecords, _ ask: Ask
  ) throws(CloudError) -> [ItemResult<RecordID, Record>] {
    guard fetch.ids.count <= Limits.items else { throw refusal(.limitExceeded) }
    return fetch.ids.map { id in
      do throws(CloudError) {
        let place = try place(id.zone, ask)
        guard var record = place.record(id.name) else { throw refusal(.unknownItem) }
        record.fields = fetch.fields.applied(to: record.fields)
        return ItemResult(id: id, .success(place.outward(record)))
      } catch {
        return ItemResult(id: id, .failure(error))
      }
    }
  }

  /// Answers in one page: how an answer is cut is the server's to choose.
  ///
  /// Rules: CS-71 to CS-90.
  func query(_ request: QueryRecords, _ ask: Ask) throws(CloudError) -> QueryPage {
    var places: [ReferencePlace] = []
    if let zone = request.zone {
      places = [try place(zone, ask)]
    } else {
      if ask.scope == .shared { throw refusal(.invalidArguments) }
      for name in database(ask.home).zones.keys.sorted() {
        places.append(try place(ZoneID(name: name), ask))
      }
    }
    try check(request.query)
    let filters = request.query.filters.map { $0.spelled(for: ask.account) }
    let all = places.flatMap { place in
      place.seen.compactMap { name in
        place.record(name).map { (place: place, record: place.shown($0)) }
      }
    }
    var found = all.filter { _, record in
      record.type == request.query.recordType
        && filters.allSatisfy {
          plant == .shortIn && $0.comparator == .isIn
            ? $0.withoutLast.holds(for: record, asker: ask.account)
            : $0.holds(for: record, asker: ask.account)
        }
    }
    found.sort { request.query.isOrdered($0.record, before: $1.record) }
    return QueryPage(
      records: found.map { place, record in
        var record = place.worded(record)
        record.fields = request.fields.applied(to: record.fields)
        return record
      }, cursor: nil)
  }

  /// Keeps a file, and gives a receipt for it.
  ///
  /// Rules: WS-83 to WS-86, CS-40, CS-135.
  func take(_ upload: UploadAsset, _ ask: Ask, id: String) throws(CloudError) -> Asset {
    guard upload.content.count <= Limits.assetBytes else { throw refusal(.limitExceeded) }
    if ask.scope == .private, let quota = quotas[ask.account],
      upload.content.count > max(0, quota - database(ask.account).bytes)
    {
      throw refusal(.quotaExceeded)
    }
    let content = try upload.content.bytes()
    var asset = Asset(checksum: "sum of \(content)", size: content.count)
    let receipt = "receipt \(id) of \(ask.device.name)"
    files[asset.checksum] = content
    uploads[receipt] = ReferenceUpload(
      account: ask.account, type: upload.recordType, key: upload.key, asset: asset)
    asset.receipt = receipt
    return asset
  }

  func content(_ download: DownloadAsset, _ ask: Ask) throws(CloudError) -> [UInt8] {
    let place = try place(download.record.zone, ask)
    guard let record = place.record(download.record.name) else { throw refusal(.unknownItem) }
    guard case .asset(let asset)? = record.fields[download.key]?.value,
      asset.checksum == download.checksum, let content = files[asset.checksum]
    else { throw refusal(.assetNotAvailable) }
    return content
  }

  /// Makes zones and deletes them; deleting another's zone is leaving what it shares.
  ///
  /// Rules: CS-150 to CS-170, CS-31, CS-33, CS-160.
  func modify(_ request: ModifyZones, _ ask: Ask) throws(CloudError) -> CloudReply {
    let asked = (request.save + request.delete).map { ask.spelled(RecordID(name: "", zone: $0)) }
    guard Set(asked).count == asked.count else { throw refusal(.invalidArguments) }
    let saved = request.save.map { id in
      let code: CloudError.Code? =
        switch ask.scope {
        case .shared: .invalidArguments
        case .public: id == .default ? nil : .badDatabase
        case .private: nil
        }
      if let code { return ItemResult<ZoneID, Zone>(id: id, .failure(refusal(code))) }
      var database = database(ask.home)
      if database.make(id) { written.append(ReferenceChange(home: ask.home, zone: id.name)) }
      databases[ask.home] = database
      return zones([id], ask)[0]
    }
    let deleted = request.delete.map { id in
      do throws(CloudError) {
        try delete(id, ask)
        return ItemResult<ZoneID, Done>(id: id, .success(Done()))
      } catch {
        return ItemResult<ZoneID, Done>(id: id, .failure(error))
      }
    }
    return .zonesModified(saved: saved, deleted: deleted)
  }

  private func delete(_ id: ZoneID, _ ask: Ask) throws(CloudError) {
    let place: ReferencePlace
    do {
      place = try self.place(id, ask)
    } catch {
      // A reset asks apps to delete the zone; that it was reset stays the news of it.
      if error.userDidResetEncryptedData { return }
      throw error
    }
    if place.isVisit {
      let shares = place.shares.map { RecordID(name: $0, zone: id) }
      _ = carryOut([], shares, ModifyRecords(), at: place, by: ask.device)
      return
    }
    if id.name == ZoneID.defaultName { throw refusal(.invalidArguments) }
    var database = database(ask.home)
    database.end(id, .deleted)
    databases[ask.home] = database
    written.append(ReferenceChange(home: ask.home, zone: id.name))
  }
}
