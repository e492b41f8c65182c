import CloudProtocol
import Records
import Testing
import WebServices

/// All of these come in two ways: exact, where anything whatever comes back bit for bit, and plain,
/// where what `Sampler` calls plain does, and no extra member is written.
@Suite("What CloudKit Web Services' JSON holds, there and back")
struct NotationTests {
  private let record = RecordID(name: "record", zone: .default)

  /// Proves WS-20, WS-26.
  @Test("Fields of every kind make a round trip through JSON", arguments: [true, false])
  func fieldsOfEveryKindRoundTrip(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 300) {
      $0.field()
    } write: {
      $0.json($1, "key", of: record)
    } read: {
      try $0.field($1, in: ZoneID(name: "other"))
    }
  }

  /// Proves WS-28.
  @Test("Numbers as text come back as numbers", arguments: [true, false])
  func numbersAsStrings(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 100) {
      $0.field()
    } write: {
      var notation = $0
      notation.numbersAsStrings = true
      return notation.json($1, "key", of: record)
    } read: {
      try $0.field($1, in: ZoneID(name: "other"))
    }
  }

  /// Proves WS-17, WS-78.
  @Test("A record is read back identical from its JSON", arguments: [true, false])
  func recordRoundTripsThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.record()
    } write: {
      $0.json($1)
    } read: {
      try $0.record($1, in: ZoneID(name: "other"))
    }
  }

  @Test("Saves are read back identical from their JSON", arguments: [true, false])
  func savesRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.save()
    } write: {
      $0.json($1)
    } read: {
      try $0.save($1, in: ZoneID(name: "other")) { "new" }
    }
  }

  @Test("Deletions are read back identical from their JSON", arguments: [true, false])
  func deletionsRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 200) {
      // The type is not in the service's own words.
      RecordDeletion(id: $0.recordID(), type: isExact ? $0.text() : "")
    } write: {
      $0.json($1)
    } read: {
      try $0.deletion($1, in: ZoneID(name: "other"))
    }
  }

  /// Proves WS-14, WS-15.
  @Test("Zones are read back identical from their JSON", arguments: [true, false])
  func zonesRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.zoneDescribed()
    } write: {
      $0.json($1)
    } read: {
      try $0.zone(describedBy: $1, asked: nil)
    }
  }

  @Test("Queries are read back identical from their JSON", arguments: [true, false])
  func queriesRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.query()
    } write: {
      $0.json($1, zone: ZoneID(name: "other"))
    } read: {
      try $0.query($1, zone: ZoneID(name: "other"))
    }
  }

  /// Proves WS-48, WS-49.
  @Test("Every comparator and every system field is written and read")
  func filtersRoundTripThroughJSON() {
    let notation = Notation(container: "c", database: .private, isExact: false)
    var faults: [String] = []
    for comparator in Query.Filter.Comparator.allCases {
      for key in SystemField.allCases.map(\.rawValue) + ["title", "", "recordName"] {
        let filter = Query.Filter(key: key, comparator: comparator, value: .list([.int64(1)]))
        let query = Query(
          recordType: "Note", filters: [filter], sorts: [Query.Sort(key: key, ascending: false)])
        let json = notation.json(query, zone: .default)
        let isSystem = SystemField(rawValue: key) != nil
        let names = ["filterBy", "sortBy"].compactMap {
          json[$0]?.array?.first?[isSystem ? "systemFieldName" : "fieldName"]?.string
        }
        let isNamed = names.count == 2 && names.allSatisfy { isSystem != ($0 == key) }
        if !isNamed || (try? notation.query(json, zone: .default)) != query {
          faults.append(json.text)
        }
      }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  /// Proves WS-68.
  @Test("Subscriptions are read back identical from their JSON", arguments: [true, false])
  func subscriptionsRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.subscription()
    } write: {
      $0.json($1)
    } read: {
      try $0.subscription($1)
    }
  }

  @Test("User identities are read back identical from their JSON", arguments: [true, false])
  func userIdentitiesRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.identity()
    } write: {
      $0.json($1)
    } read: {
      try $0.identity($1)
    }
  }

  /// Proves WS-80.
  @Test("Share metadata is read back identical from its JSON", arguments: [true, false])
  func shareMetadataRoundTripsThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 100) {
      $0.metadata()
    } write: {
      $0.json($1, environment: .production)
    } read: {
      try $0.metadata($1)
    }
  }

  /// Proves WS-30.
  @Test(
    "Errors are read back with the server's record and the time to wait", arguments: [true, false])
  func errorsRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.error()
    } write: {
      $0.json($1)
    } read: {
      try $0.error($1)
    }
  }

  /// Proves WS-73.
  @Test("Pushes are read back identical from their JSON", arguments: [true, false])
  func pushesRoundTripThroughJSON(isExact: Bool) {
    RoundTrip.check(isExact: isExact, count: 120) {
      $0.push()
    } write: {
      $0.json($1, number: "7", info: Subscription.NotificationInfo(alertBody: "x"))
    } read: {
      try $0.push($1)
    }
  }

  @Test("The owner of one's own zone is written as the reader can recognize it")
  func ownZoneOwnerIsRecognizable() {
    let table: [(DatabaseScope, user: String?, isExact: Bool, owner: String?)] = [
      (.private, "_alice", true, "_alice"), (.private, "_alice", false, "_alice"),
      (.private, nil, true, nil), (.private, nil, false, nil),
      (.shared, "_alice", true, ZoneID.currentOwner), (.shared, "_alice", false, "_alice"),
      (.shared, nil, false, ZoneID.currentOwner),
    ]
    for (database, user, isExact, owner) in table {
      let notation = Notation(
        container: "c", database: database, user: user.map { UserID($0) }, isExact: isExact)
      let own = notation.json(ZoneID(name: "Notes"))
      let other = notation.json(ZoneID(name: "Notes", owner: "_bob"))
      #expect(own["ownerRecordName"]?.string == owner, "\(database), \(own.text)")
      #expect(other["ownerRecordName"]?.string == "_bob")
      #expect((other[Notation.extra] != nil) == (isExact && database != .shared))
    }
  }
}
