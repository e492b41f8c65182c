import CloudProtocol
import Records
import SimulationSupport

/// Records: saved, deleted, read, looked for.
extension Player {
  mutating func modify(_ site: Site, _ request: ModifyRecords) async {
    names.home = site.scope == .public ? Device.publicHome : site.device.account
    let asked = "\(site.label) \(describe(request))"
    let answer = await send(.modifyRecords(request), from: site.device, in: site.scope)
    take(answer, request, site, asked: asked)
  }

  /// Sends the last mutation of `device` once more, word by word.
  mutating func sendAgain(_ device: Device) async {
    guard let call = last[device] else { return }
    names.home = call.database == .public ? Device.publicHome : device.account
    let answer = await cloud.send(call, from: device)
    switch call.request {
    case .modifyRecords(let request):
      let site = Site(device: device, scope: call.database, zone: .default)
      take(answer, request, site, asked: "\(site.label) again \(describe(request))")
    case .modifyZones:
      note("\(device.name) zones again", describe(zones: answer))
    default: break
    }
  }

  private mutating func take(
    _ answer: Result<CloudReply, CloudError>, _ request: ModifyRecords, _ site: Site, asked: String
  ) {
    guard case .success(.recordsModified(let saved, let deleted)) = answer else {
      return note(asked, describe(failure: answer))
    }
    var words: [String] = []
    for result in saved {
      switch result.outcome {
      case .success(let record):
        see(record, site)
        countSave(of: record, site)
        words.append("+\(names.describe(record))")
      case .failure(let error):
        countRefusal(error, site)
        words.append("+\(result.id.name) \(names.describe(error))")
      }
    }
    for result in deleted {
      if let error = result.error { countRefusal(error, site) }
      if result.error == nil, site.scope == .shared {
        let isShare = shares[site.device.account]?[result.id] != nil
        count(isShare ? .visitorLeft : .visitorDeleted)
      }
      words.append("-\(result.id.name)\(result.error.map { " " + names.describe($0) } ?? "")")
    }
    note(asked, words.joined(separator: "; "))
  }

  /// Remembers what later requests are made from: tags, shares and assets.
  mutating func see(_ record: Record, _ site: Site) {
    let place = names.place(record.id)
    if let tag = record.changeTag, tags[place]?.contains(tag) != true {
      tags[place, default: []].append(tag)
    }
    if record.sharing != nil { shares[site.device.account, default: [:]][record.id] = record }
    for element in record.fields {
      guard case .asset(let asset) = element.field.value else { continue }
      assets.append(SeenAsset(site: site, id: record.id, key: element.key, asset: asset))
    }
  }

  private mutating func countSave(of record: Record, _ site: Site) {
    if record.sharing != nil {
      count(record.created == record.modified ? .shareMade : .shareChanged)
    }
    switch site.scope {
    case .shared: count(.visitorSaved)
    case .public: count(.publicSaved)
    case .private: break
    }
  }

  private mutating func countRefusal(_ error: CloudError, _ site: Site) {
    switch (error.code, site.scope) {
    case (.permissionFailure, .shared): count(.visitorRefused)
    case (.permissionFailure, .public): count(.strangerRefused)
    case (.serverRecordChanged, _): count(.conflict)
    case (.zoneNotFound, _): count(.missingZone)
    case (.referenceViolation, _): count(.brokenReference)
    case (.batchRequestFailed, _): count(.innocentInBatch)
    case (.quotaExceeded, _): count(.quotaRefused)
    case (.alreadyShared, _): count(.shareOverlaps)
    case (.serverRejectedRequest, _): count(.shareBesideZone)
    case (.participantAlreadyInvited, _): count(.invitedTwice)
    case (.assetNotAvailable, _): count(.wrongReceipt)
    default: break
    }
  }

  mutating func read(_ site: Site, _ ids: [RecordID]) async {
    let asked =
      "\(site.label) read \(ids.map(\.name)) in \(ids.first.map { names.name($0.zone) } ?? "-")"
    let fields: FieldSelection =
      random.chance(0.3) ? random.pick([.keys(["n"]), .keys(["f", "s", "none"]), .none]) : .all
    let answer = await send(
      .fetchRecords(FetchRecords(ids: ids, fields: fields)), from: site.device, in: site.scope)
    guard case .success(.records(let results)) = answer else {
      return note(asked, describe(failure: answer))
    }
    var words: [String] = []
    for result in results {
      switch result.outcome {
      case .success(let record):
        see(record, site)
        words.append(names.describe(record))
      case .failure(let error): words.append("\(result.id.name) \(names.describe(error))")
      }
    }
    note("\(asked) \(fields)", words.joined(separator: "; "))
  }

  /// A few saves and deletions, most of them as an app would send them.
  mutating func randomBatch(_ site: Site) -> ModifyRecords {
    var request = ModifyRecords(isAtomic: random.chance(0.6))
    if random.chance(0.25) { request.policy = random.pick([.changedKeys, .allKeys]) }
    if random.chance(0.15) { request.fields = random.pick([.none, .keys(["n", "s"])]) }
    var left = Player.recordNames
    let count =
      random.chance(0.02) ? Limits.items + 1 : 1 + random.below(site.scope == .shared ? 2 : 5)
    for _ in 0..<count {
      let name = left.isEmpty ? "r0" : left.remove(at: random.below(left.count))
      let isElsewhere = random.chance(0.05)
      let target = id(
        name,
        isElsewhere
          ? ZoneID(name: random.pick(Player.zones).name, owner: site.zone.owner) : site.zone)
      guard random.chance(0.28) else {
        request.save.append(randomSave(target))
        continue
      }
      request.delete.append(target)
      if random.chance(0.2), let tag = tags[names.place(target)]?.last {
        request.deleteTags[target] = tag
      }
    }
    if random.chance(0.01), let save = request.save.first { request.save.append(save) }
    return request
  }

  mutating func randomSave(_ id: RecordID) -> RecordSave {
    var id = id
    if random.chance(0.01) { id.name = "_" + id.name }
    let number = Player.recordNames.firstIndex(of: id.name) ?? 0
    var save = RecordSave(id: id, type: number < 6 ? "Note" : "Task", changes: [])
    let known = tags[names.place(id)] ?? []
    switch random.below(12) {
    case 0: break
    case 1: save.changeTag = known.first
    case 2: save.changeTag = ChangeTag("never-given")
    default: save.changeTag = known.last
    }
    save.changes.append(.init(key: "n", field: Field(.int64(Int64(random.below(6))))))
    if random.chance(0.5) {
      save.changes.append(
        .init(
          key: "s",
          field: random.chance(0.2)
            ? nil
            : Field(
              .string(random.pick(["", "e\u{301}", "two words", "Red", "red and green"])),
              isEncrypted: false)))
    }
    addKinds(to: &save)
    // The public database keeps nothing encrypted.
    if random.chance(names.home == Device.publicHome ? 0.02 : 0.2) {
      save.changes.append(
        .init(key: "x", field: Field(.double(Double(random.below(9)) / 4), isEncrypted: true)))
    }
    addReferences(to: &save, number)
    if random.chance(0.05) { save.policy = random.pick(SavePolicy.allCases) }
    if random.chance(0.05) { save.clearsOtherFields = true }
    save.changes.sort { $0.key < $1.key }
    return save
  }

  /// Values of kinds that queries look at.
  private mutating func addKinds(to save: inout RecordSave) {
    if random.chance(0.4) {
      let words = (0..<random.below(3)).map { _ in FieldValue.string(random.pick(Player.words)) }
      save.changes.append(.init(key: "t", field: words.isEmpty ? nil : Field(.list(words))))
    }
    if random.chance(0.15) {
      let date = Timestamp(secondsSinceReferenceDate: Double(random.below(5)) * 86_400)
      save.changes.append(.init(key: "d", field: Field(.date(date))))
    }
    if random.chance(0.15) {
      save.changes.append(.init(key: "l", field: Field(.location(random.pick(Player.locations)))))
    }
  }

  static let words = ["Red", "red", "green", "two words", "Grüne"]
  static let locations = [
    Location(latitude: 52.5, longitude: 13.4), Location(latitude: 48.1, longitude: 11.6),
    Location(latitude: -33.9, longitude: 151.2),
  ]

  /// Parents have smaller numbers, so that none is below itself; owners may go round in circles.
  private mutating func addReferences(to save: inout RecordSave, _ number: Int) {
    if number > 0, random.chance(theme == .sharing ? 0.4 : 0.15) {
      let known = Player.recordNames[..<number].filter { name in
        tags[names.place(id(name, save.id.zone))] != nil
      }
      let isKnown = random.chance(0.8) && !known.isEmpty
      let parent = random.pick(isKnown ? Array(known) : Array(Player.recordNames[..<number]))
      save.parent = .set(random.chance(0.2) ? nil : id(parent, save.id.zone))
    }
    for (key, action) in [("o", Reference.Action.deleteSelf), ("r", .none), ("v", .validate)] {
      guard random.chance(theme == .sharing ? 0.04 : 0.12) else { continue }
      let other = Player.recordNames[(number + 1 + random.below(8)) % Player.recordNames.count]
      save.changes.append(
        .init(
          key: key,
          field: random.chance(0.3)
            ? nil
            : Field(.reference(Reference(target: id(other, save.id.zone), action: action)))))
    }
  }
}
