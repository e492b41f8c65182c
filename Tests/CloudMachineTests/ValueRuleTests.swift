import CloudProtocol
import Records
import Testing

@testable import CloudMachine

/// Rules of single values, at their bounds.
struct ValueRuleTests {
  @Test("Values of different kinds are sorted by kind, numbers of both kinds by value")
  func valuesAreSortedByKind() {
    let ascending: [QueryValue?] = [
      nil, .number(.nan), .integer(-1), .number(-0.5), .integer(0), .time(.nan), .time(-1),
      .time(1), .text("a"), .text("b"), .bytes([0]), .bytes([0, 0]), .bytes([1]), .name("a"),
      .reference(id("b")), .name("c"),
    ]
    for (place, first) in ascending.enumerated() {
      for (other, second) in ascending.enumerated() {
        let wanted = QueryValue.Order(place, other)
        let found = QueryValue.sortOrder(of: first, to: second)
        #expect(found == wanted, "\(String(describing: first)) \(String(describing: second))")
      }
    }
  }

  @Test("Whole numbers are compared with others without a loss, and with nothing else")
  func wholeNumbersAreComparedExactly() {
    let rows: [(Int64, Double, QueryValue.Order?)] = [
      (5, 5, .equal), (5, 5.5, .less), (5, 4.5, .greater), (-5, -5.5, .greater),
      (-5, -4.5, .less), (.max, 0x1p63, .less), (.max, .infinity, .less),
      (.min, -0x1p63, .equal), (.min, (-0x1p63).nextDown, .greater), (0, -.infinity, .greater),
      (1 << 54, 0x1p54, .equal), ((1 << 53) + 1, 0x1p53, .greater), (0, .nan, nil),
    ]
    for (whole, number, wanted) in rows {
      let (first, second) = (QueryValue.integer(whole), QueryValue.number(number))
      #expect(first.order(to: second) == wanted, "\(whole) \(number)")
      #expect(second.order(to: first) == wanted?.reversed, "\(number) \(whole)")
    }
    #expect(QueryValue.number(1).order(to: .time(1)) == nil)
    #expect(QueryValue.time(.nan).order(to: .time(1)) == nil)
    #expect(QueryValue.time(1).order(to: .time(.nan)) == nil)
    #expect(QueryValue.text("a").order(to: .name("a")) == nil)
  }

  @Test("A key of an index has at most 120 bytes, and is exact below that")
  func keyOfIndexIsBounded() {
    for (length, bytes, isExact) in [
      (0, 1, true), (118, 119, true), (119, 120, false), (120, 120, false), (500, 120, false),
    ] {
      let key = IndexKey(.text(String(repeating: "a", count: length)))
      #expect(key.bytes.count == bytes && key.isExact == isExact, "\(length)")
    }
    #expect(!IndexKey(.name("a")).isExact && IndexKey(.bytes([1])).isExact)
    #expect(IndexKey(nil).isExact && !IndexKey(bytes: []).isExact)
  }

  @Test("A change is at the clock's millisecond, or at the next one after the change before it")
  func timesAreWholeMilliseconds() {
    for (now, latest, wanted) in [
      (1.0004, 0, 1), (1.0006, 0, 1.001), (5, 5, 5.001), (5, 7, 7.001), (5, 4.999, 5),
      (-1.0006, -10, -1.001), (-1.0004, -10, -1), (.nan, 5, 5.001), (.infinity, 5, 5.001),
      (1, .infinity, 1), (0, .infinity, 0.001),
    ] as [(Double, Double, Double)] {
      let time = ChangeSet.time(
        now: Timestamp(secondsSinceReferenceDate: now),
        after: Timestamp(secondsSinceReferenceDate: latest))
      #expect(time == Timestamp(secondsSinceReferenceDate: wanted), "\(now) after \(latest)")
    }
  }

  @Test("A position in a feed has no floor below it, and covers what was not trimmed")
  func positionsCoverWhatWasNotTrimmed() {
    #expect(FeedPosition(sequence: 5, floor: 5).floor == 0)
    #expect(FeedPosition(sequence: 5, floor: 6).floor == 6)
    #expect(FeedPosition(sequence: 5, floor: 4).floor == 0)
    for (floor, trimmed, latest, isVisit, isCovered) in [
      (0, 5, 9, false, true), (0, 6, 9, false, false), (7, 7, 9, false, true),
      (7, 8, 9, false, false), (0, 0, 5, false, true), (0, 0, 4, false, false),
      (7, 0, 7, false, true), (7, 0, 6, false, false), (0, 1, 9, true, false),
      (7, 7, 9, true, true), (7, 8, 9, true, false),
    ] as [(UInt64, UInt64, UInt64, Bool, Bool)] {
      let position = FeedPosition(sequence: 5, floor: floor)
      let found = position.isCovered(
        trimmedThrough: trimmed, latest: latest, isVisit: isVisit)
      #expect(found == isCovered, "\(floor) \(trimmed) \(latest) \(isVisit)")
    }
  }

  @Test("Of ended memberships the latest sixteen are kept")
  func latestEndedMembershipsAreKept() {
    func memberships(_ ends: ClosedRange<UInt64>) -> [ShareMembership] {
      ends.map { ShareMembership(share: "s", since: $0 - 1, until: $0) }
        + [ShareMembership(share: "t", since: 1)]
    }
    for (last, through, forgotten, left) in [
      (16, 0, 0, 1), (17, 0, 1, 2), (20, 0, 4, 5), (20, 3, 4, 5), (20, 4, 0, 5), (20, 5, 0, 6),
    ] as [(UInt64, UInt64, UInt64, UInt64)] {
      var all = memberships(1...last)
      #expect(all.forget(through: through) == forgotten, "\(last) through \(through)")
      #expect(all == memberships(left...last), "\(last) through \(through)")
    }
  }

  @Test("A user keeps sixteen times the receipts of a device, without an overflow")
  func receiptsOfUserAreBounded() {
    for (keeping, most) in [(2, 32), (0, 0), (-1, 0), (.max, .max)] as [(Int, Int)] {
      #expect(Receipt.mostOfUser(keeping: keeping) == most)
    }
  }

  @Test("The stored size of a record counts its files, without an overflow")
  func storedSizeCountsFiles() {
    func size(_ sizes: Int...) -> Int {
      let files = sizes.map { FieldValue.asset(Asset(checksum: "c", size: $0)) }
      let record = Record(id: id("a"), type: "T", fields: ["f": .list(files)])
      return record.storedByteCount(withoutFiles: 10)
    }
    #expect(size(5, 7) == 22 && size(0) == 10 && size(-5, 1) == 11)
    #expect(size(.max) == .max && size(.max, .max) == .max && size(1, .max - 12) == .max - 1)
  }

  @Test("The fields of a record type are in the order of their keys, each once")
  func fieldsOfTypeAreSorted() {
    let id = RecordTypeID(container: "c", environment: .development, name: "T")
    func row(_ key: String, _ kind: FieldValue.Kind = .int64) -> FieldRow {
      FieldRow(key: key, shape: FieldShape(kind: kind))
    }
    var type = RecordTypeRow(id: id, fields: [row("d"), row("b"), row("b", .string)])
    #expect(type.fields == [row("b", .string), row("d")])
    #expect(type["b"] == row("b", .string) && type["c"] == nil && type["e"] == nil)
    type["a"] = row("a")
    type["c"] = row("c")
    type["e"] = row("e")
    #expect(type.fields.map(\.key) == ["a", "b", "c", "d", "e"])
    for key in ["c", "c", "e", "f", "0"] { type[key] = nil }
    #expect(type.fields.map(\.key) == ["a", "b", "d"])
    type.add([row("c"), row("0")])
    #expect(type.fields.map(\.key) == ["0", "a", "b", "c", "d"])
    // Files hold these numbers.
    let indexes: [FieldIndexes] = [.queryable, .sortable, .searchable, .all]
    #expect(indexes.map(\.rawValue) == [1, 2, 4, 7])
  }

  @Test("Databases are sorted by container, environment, scope and owner")
  func databasesAreSorted() {
    let databases = ["a", "b"].flatMap { container in
      CloudEnvironment.allCases.sorted { $0.rawValue < $1.rawValue }.flatMap { environment in
        DatabaseScope.allCases.flatMap { scope in
          [nil, UserID("_a"), UserID("_b")].map { owner in
            DatabaseID(
              container: container, environment: environment, scope: scope, owner: owner)
          }
        }
      }
    }
    for (place, first) in databases.enumerated() {
      for (other, second) in databases.enumerated() {
        #expect((first < second) == (place < other), "\(first) \(second)")
      }
    }
  }

  @Test("Requests that servers count together are refused from the first one too many")
  func countedRequestsAreRefused() {
    let rate = ServerLimits.Throttle(requests: 2, seconds: 10)
    for (number, remaining, words) in [
      (1, 5, "ok"), (2, 5, "ok"), (3, 5, "serviceUnavailable 5.0"),
      (4, 5, "requestRateLimited 5.0"), (4, 50, "requestRateLimited 10.0"),
      (4, -1, "requestRateLimited 0.0"),
    ] as [(Int, Double, String)] {
      let error = rate.refusal(of: CountedRequest(number: number, remaining: remaining))
      let found = error.map { "\($0.code) \($0.retryAfter ?? -1)" } ?? "ok"
      #expect(found == words, "\(number) \(remaining)")
    }
    let none = ServerLimits.Throttle(requests: 0, seconds: 1)
    #expect(none.refusal(of: CountedRequest(number: 1, remaining: 1)) == nil)
    #expect(none.refusal(of: CountedRequest(number: 2, remaining: 1)) != nil)
    let keys = [
      rate.key(account: "a", device: "d"), rate.key(account: nil, device: "d"),
      rate.key(account: "b", device: "d"), none.key(account: "a", device: "d"),
    ]
    #expect(Set(keys).count == 4 && rate.key(account: "a", device: "e") == keys[0])
  }

  @Test("The limits besides the published ones")
  func furtherDefaultLimits() throws {
    let limits = CloudLimits()
    #expect(limits.pageBytes == 4 << 20 && limits.uploadSeconds == 86_400)
    #expect(limits.replyBytes == 16 << 20 && limits.desiredKeys == 400)
    #expect(limits.indexEntries == 10_000 && limits.pushFieldBytes == 1024)
    #expect(limits.subscriptions == 1_000 && limits.subscriptionBytes == 65_536)
    #expect(limits.receiptsKept == 256 && limits.queryTerms == 100 && limits.filterValues == 250)
    #expect(limits.fixesFieldKinds && !limits.childSavesChangeParents)
    let storage = MemoryStorage()
    #expect(try storage.identity() == 1)
    #expect(try storage.secret() == StorageSecret(guessableFrom: 1))
  }
}
