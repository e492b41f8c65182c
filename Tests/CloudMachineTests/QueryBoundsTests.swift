import CloudMachine
import CloudProtocol
import Records
import Testing

/// How much one query may ask for.
struct QueryBoundsTests {
  private func values(_ count: Int) -> FieldValue {
    .list((0..<count).map { .int64(Int64($0)) })
  }

  private func words(_ count: Int) -> FieldValue {
    .string((0..<count).map { "w\($0)" }.joined(separator: " "))
  }

  private func say(_ world: World, _ query: Query) throws -> String {
    switch try world.ask(.queryRecords(QueryRecords(query: query, zone: World.zone))).result {
    case .success: return "ok"
    case .failure(let error): return "\(error.code): \(error.message)"
    }
  }

  /// Proves CS-210, WS-150.
  @Test("a filter takes 250 values, whatever the comparator; one more is limitExceeded")
  func aFilterWithMoreValuesThanTheLimitIsRefused() throws {
    let world = try World()
    for comparator in [Query.Filter.Comparator.isIn, .isNotIn, .equals, .listContainsAny] {
      let full = Query(recordType: "Item", filters: [filter("n", comparator, values(250))])
      #expect(try say(world, full) == "ok", "\(comparator)")
      let excessive = Query(recordType: "Item", filters: [filter("n", comparator, values(251))])
      let answer = try say(world, excessive)
      #expect(
        answer.hasPrefix("limitExceeded: the filter \(comparator.rawValue) on 'n' has 251 values")
          && answer.contains("at most 250"), "\(answer)")
    }
    for (count, expected) in [(250, "ok"), (251, "limitExceeded")] {
      let search = Query(
        recordType: "Item", filters: [filter("", .containsAllTokens, words(count))])
      #expect(try say(world, search).hasPrefix(expected))
    }
  }

  /// Proves CS-211.
  @Test("a query takes 100 filters and sorts together, and 2 MB")
  func aQueryWithMoreTermsOrBytesThanTheLimitIsRefused() throws {
    let world = try World()
    let filters = Array(repeating: filter("n", .equals, .int64(1)), count: 99)
    #expect(try say(world, Query(recordType: "Item", filters: filters, sorts: [by("n")])) == "ok")
    let terms = try say(
      world, Query(recordType: "Item", filters: filters, sorts: [by("n"), by("m")]))
    #expect(
      terms == "limitExceeded: the query has 101 filters and sorts, and a query takes at most 100")
    let text = FieldValue.string(String(repeating: "x", count: 2 << 20))
    let bytes = try say(world, Query(recordType: "Item", filters: [filter("t", .equals, text)]))
    #expect(bytes.hasPrefix("limitExceeded: the query has 20971") && bytes.contains("2097152"))
  }

  /// Proves CS-210.
  @Test("a subscription's query has the same limits, since each save is put to it")
  func aSubscriptionsQueryHasTheSameLimits() throws {
    let world = try World()
    for (count, expected) in [(250, "+s ok"), (251, "+s limitExceeded")] {
      let watched = QuerySubscription(
        query: Query(recordType: "Item", filters: [filter("n", .isIn, values(count))]), zone: nil,
        options: [.firesOnRecordCreation])
      let subscription = Subscription(id: SubscriptionID("s"), kind: .query(watched))
      #expect(
        try world.say(.modifySubscriptions(ModifySubscriptions(save: [subscription]))) == expected)
    }
  }

  /// Proves CS-210, CS-211.
  @Test("without another word a filter takes 250 values and a query 100 filters and sorts")
  func theLimitsCanBeSet() throws {
    #expect(CloudLimits().filterValues == 250 && CloudLimits().queryTerms == 100)
    var limits = CloudLimits()
    limits.filterValues = 2
    limits.queryTerms = 1
    let world = try World(limits: limits)
    let filters = [filter("n", .isIn, values(2)), filter("n", .isIn, values(2))]
    #expect(try say(world, Query(recordType: "Item", filters: [filters[0]])) == "ok")
    #expect(try say(world, Query(recordType: "Item", filters: filters)).contains("at most 1"))
    let long = Query(recordType: "Item", filters: [filter("n", .isIn, values(3))])
    #expect(try say(world, long).contains("at most 2;"))
  }
}
