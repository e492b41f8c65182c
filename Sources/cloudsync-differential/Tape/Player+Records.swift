import CloudProtocol
import CloudSyncTesting
import Records

/// Records: saved, deleted, read, looked for.
extension Player {
  mutating func modify(_ device: Device, _ request: ModifyRecords) async {
    take(
      await send(.modifyRecords(request), from: device), request,
      asked: "\(device.name) \(describe(request))")
  }

  /// Sends the last mutation of `device` once more, word by word.
  mutating func sendAgain(_ device: Device) async {
    guard let call = last[device] else { return }
    let answer = await cloud.send(call, from: device)
    switch call.request {
    case .modifyRecords(let request):
      take(answer, request, asked: "\(device.name) again \(describe(request))")
    case .modifyZones:
      note("\(device.name) zones again", describe(zones: answer))
    default: break
    }
  }

  private mutating func take(
    _ answer: Result<CloudReply, CloudError>, _ request: ModifyRecords, asked: String
  ) {
    guard case .success(.recordsModified(let saved, let deleted)) = answer else {
      return note(asked, describe(failure: answer))
    }
    var words: [String] = []
    for result in saved {
      switch result.outcome {
      case .success(let record):
        if let tag = record.changeTag, tags[names.account]?[record.id]?.contains(tag) != true {
          tags[names.account, default: [:]][record.id, default: []].append(tag)
        }
        words.append("+\(names.describe(record))")
      case .failure(let error): words.append("+\(result.id.name) \(names.describe(error))")
      }
    }
    for result in deleted {
      words.append("-\(result.id.name)\(result.error.map { " " + names.describe($0) } ?? "")")
    }
    note(asked, words.joined(separator: "; "))
  }

  mutating func read(_ device: Device, _ ids: [RecordID]) async {
    let asked = "\(device.name) read \(ids.map(\.name)) in \(ids.first?.zone.name ?? "-")"
    let fields: FieldSelection = random.chance(0.2) ? .keys(["n"]) : .all
    let answer = await send(.fetchRecords(FetchRecords(ids: ids, fields: fields)), from: device)
    guard case .success(.records(let results)) = answer else {
      return note(asked, describe(failure: answer))
    }
    note(
      asked,
      results.map { result in
        switch result.outcome {
        case .success(let record): names.describe(record)
        case .failure(let error): "\(result.id.name) \(names.describe(error))"
        }
      }.joined(separator: "; "))
  }

  /// Looks for records by a whole number, through all pages.
  mutating func query(_ device: Device) async {
    var query = Query(recordType: random.chance(0.7) ? "Note" : "Task")
    if random.chance(0.7) {
      query.filters = [
        Query.Filter(
          key: "n", comparator: random.pick([.equals, .lessThan, .greaterThanOrEquals]),
          value: .int64(Int64(random.below(6))))
      ]
    }
    let isSorted = random.chance(0.6)
    if isSorted { query.sorts = [Query.Sort(key: "n", ascending: random.chance(0.5))] }
    var request = QueryRecords(
      query: query, zone: random.chance(0.8) ? randomZone() : nil, limit: 1 + random.below(5))
    let filter = query.filters.map { "n \($0.comparator) \($0.value)" }.joined()
    let asked =
      "\(device.name) query \(query.recordType) \(filter) \(query.sorts.map(\.ascending))"
      + " in \(request.zone?.name ?? "all")"
    var found: [Record] = []
    var pages: [String] = []
    repeat {
      let answer = await send(.queryRecords(request), from: device)
      guard case .success(.queried(let page)) = answer else {
        return note(asked, describe(failure: answer))
      }
      found += page.records
      pages.append(page.records.map(\.id.name).joined(separator: " "))
      request.cursor = page.cursor
    } while request.cursor != nil && pages.count < 100
    let order = isSorted ? found.map { $0.number("n").map { "\($0)" } ?? "-" } : []
    let records = found.sorted { $0.id < $1.id }.map { names.describe($0) }
    note(
      asked, (order + records).joined(separator: "; "), among: pages.joined(separator: "|"))
  }

  /// A few saves and deletions, most of them as an app would send them.
  mutating func randomBatch(_ device: Device) -> ModifyRecords {
    var request = ModifyRecords(isAtomic: random.chance(0.6))
    if random.chance(0.25) { request.policy = random.pick([.changedKeys, .allKeys]) }
    if random.chance(0.15) { request.fields = random.pick([.none, .keys(["n", "s"])]) }
    let zone = randomZone()
    var left = Player.recordNames
    let count = random.chance(0.02) ? Limits.items + 1 : 1 + random.below(5)
    for _ in 0..<count {
      let name = left.isEmpty ? "r0" : left.remove(at: random.below(left.count))
      let target = id(name, random.chance(0.05) ? random.pick(Player.zones) : zone)
      guard random.chance(0.28) else {
        request.save.append(randomSave(target))
        continue
      }
      request.delete.append(target)
      if random.chance(0.2), let tag = tags[names.account]?[target]?.last {
        request.deleteTags[target] = tag
      }
    }
    if random.chance(0.01), let save = request.save.first { request.save.append(save) }
    return request
  }

  private mutating func randomSave(_ id: RecordID) -> RecordSave {
    var id = id
    if random.chance(0.01) { id.name = "_" + id.name }
    let number = Player.recordNames.firstIndex(of: id.name) ?? 0
    var save = RecordSave(id: id, type: number < 6 ? "Note" : "Task", changes: [])
    let known = tags[names.account]?[id] ?? []
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
            : Field(.string(random.pick(["", "e\u{301}", "two words"])), isEncrypted: false)))
    }
    if random.chance(0.2) {
      save.changes.append(
        .init(key: "x", field: Field(.double(Double(random.below(9)) / 4), isEncrypted: true)))
    }
    addReferences(to: &save, number)
    if random.chance(0.05) { save.policy = random.pick(SavePolicy.allCases) }
    if random.chance(0.05) { save.clearsOtherFields = true }
    save.changes.sort { $0.key < $1.key }
    return save
  }

  /// Parents have smaller numbers, so that none is below itself; owners may go round in circles.
  private mutating func addReferences(to save: inout RecordSave, _ number: Int) {
    if number > 0, random.chance(0.15) {
      save.parent = .set(
        random.chance(0.3) ? nil : id(Player.recordNames[random.below(number)], save.id.zone))
    }
    for (key, action) in [("o", Reference.Action.deleteSelf), ("r", .none), ("v", .validate)] {
      guard random.chance(0.12) else { continue }
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
