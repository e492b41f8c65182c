import CloudProtocol
import Records
import SimulationSupport

/// Queries, through all pages.
extension Player {
  mutating func query(_ site: Site) async {
    var query = randomQuery(site.zone)
    // Of two mistakes in one request either may be told; so a senseless one names no zone.
    let isSenseless = random.chance(0.05)
    if isSenseless { query.filters.append(senselessFilter()) }
    let isEverywhere = isSenseless || random.chance(0.35)
    var request = QueryRecords(
      query: query, zone: isEverywhere ? nil : site.zone, limit: 1 + random.below(5),
      fields: random.chance(0.2) ? .keys(["n", "f"]) : .all)
    // A cursor belongs to its query.
    let misusesCursor = random.chance(0.1)
    let filter = query.filters.map { "\($0.key) \($0.comparator) \(names.describe($0.value))" }
    let asked =
      "\(site.label) query \(query.recordType) \(filter.joined(separator: " and "))"
      + " by \(query.sorts.map { "\($0.key) \($0.ascending)" })"
      + " in \(request.zone.map { names.name($0) } ?? "all") \(request.fields)"
    var found: [Record] = []
    var pages: [String] = []
    repeat {
      let answer = await send(.queryRecords(request), from: site.device, in: site.scope)
      guard case .success(.queried(let page)) = answer else {
        if case .failure(let error) = answer, error.code == .invalidArguments {
          count(.queryRefused)
        }
        return note(asked, describe(failure: answer))
      }
      found += page.records
      pages.append(page.records.map(\.id.name).joined(separator: " "))
      request.cursor = page.cursor
      if misusesCursor, pages.count == 1, page.cursor != nil {
        var other = request
        other.query.recordType = "Other"
        let refused = await send(.queryRecords(other), from: site.device, in: site.scope)
        count(.foreignCursor)
        pages.append(describe(failure: refused))
      }
    } while request.cursor != nil && pages.count < 100
    if pages.count > 1 { count(.queryPaged) }
    if !found.isEmpty {
      for filter in query.filters {
        situations["query \(filter.comparator.rawValue)", default: 0] += 1
      }
      if site.scope == .shared { count(.queryShared) }
    }
    note(
      asked, found.map { names.describe($0) }.joined(separator: "; "),
      among: pages.joined(separator: "|"))
  }

  mutating func randomQuery(_ zone: ZoneID) -> Query {
    var query = Query(recordType: random.chance(0.75) ? "Note" : "Task")
    for _ in 0..<random.pick([0, 1, 1, 1, 2]) { query.filters.append(randomFilter(zone)) }
    if random.chance(0.01) { query.recordType = "Users" }
    for _ in 0..<random.pick([0, 0, 1, 1, 2]) {
      let isNear = random.chance(0.15)
      query.sorts.append(
        isNear
          ? Query.Sort(
            key: "l", ascending: random.chance(0.5), relativeTo: random.pick(Player.locations))
          : Query.Sort(
            key: random.pick(["n", "n", "s", "d", "___recordID", "___modTime"]),
            ascending: random.chance(0.5)))
    }
    return query
  }

  private mutating func randomFilter(_ zone: ZoneID) -> Query.Filter {
    typealias Comparator = Query.Filter.Comparator
    let orders: [Comparator] = [
      .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
    ]
    func number(_ random: inout SeededRandom) -> FieldValue { .int64(Int64(random.below(6))) }
    func word(_ random: inout SeededRandom) -> FieldValue { .string(random.pick(Player.words)) }
    func list(_ one: FieldValue, _ other: FieldValue) -> FieldValue { .list([one, other]) }
    let target = id(random.pick(Player.recordNames), zone)
    let reference = FieldValue.reference(Reference(target: target, action: .none))
    switch random.below(14) {
    case 0, 1:
      return Query.Filter(key: "n", comparator: random.pick(orders), value: number(&random))
    case 2:
      return Query.Filter(
        key: "n", comparator: random.pick([.isIn, .isIn, .isNotIn]),
        value: list(number(&random), number(&random)))
    case 3: return Query.Filter(key: "s", comparator: random.pick(orders), value: word(&random))
    case 4:
      return Query.Filter(
        key: "s", comparator: random.pick([.beginsWith, .notBeginsWith]),
        value: .string(random.pick(["", "two", "Two", "r", "gr"])))
    case 5:
      return Query.Filter(
        key: "t", comparator: random.pick([.listContains, .notListContains]), value: word(&random))
    case 6:
      return Query.Filter(
        key: "t",
        comparator: random.pick([
          .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll, .equals,
        ]), value: list(word(&random), word(&random)))
    case 7:
      return Query.Filter(
        key: "t", comparator: random.pick([.listMemberBeginsWith, .notListMemberBeginsWith]),
        value: .string(random.pick(["", "R", "gr"])))
    case 8:
      return Query.Filter(
        key: random.pick(["", "s", "t"]),
        comparator: random.pick([.containsAllTokens, .containsAnyTokens]),
        value: .string(random.pick(["words TWO", "the red", "grune", "blue green"])))
    case 9:
      return Query.Filter(
        key: "l", comparator: .near, value: .location(random.pick(Player.locations)),
        distance: random.pick([1_000, 1_000_000, 30_000_000]))
    case 10:
      let date = Timestamp(secondsSinceReferenceDate: Double(random.below(5)) * 86_400)
      return Query.Filter(key: "d", comparator: random.pick(orders), value: .date(date))
    case 11:
      return Query.Filter(
        key: random.pick(["o", "r", "___parent", "___recordID"]),
        comparator: random.pick([.equals, .equals, .notEquals]), value: reference)
    case 12:
      let user = RecordID(name: ZoneID.currentOwner, zone: .default)
      return Query.Filter(
        key: random.pick(["___createdBy", "___modifiedBy"]), comparator: .equals,
        value: .reference(Reference(target: user, action: .none)))
    default:
      let number = Double(random.below(9)) / 4
      return Query.Filter(key: "n", comparator: random.pick(orders), value: .double(number))
    }
  }

  /// A filter that makes no sense, whatever is stored.
  private mutating func senselessFilter() -> Query.Filter {
    let target = Reference(target: id("r0", .default), action: .none)
    return random.pick([
      Query.Filter(key: "r", comparator: .lessThan, value: .reference(target)),
      Query.Filter(key: "n", comparator: .isIn, value: .int64(1)),
      Query.Filter(key: "s", comparator: .beginsWith, value: .int64(1)),
      Query.Filter(key: "l", comparator: .near, value: .location(Player.locations[0])),
    ])
  }
}
