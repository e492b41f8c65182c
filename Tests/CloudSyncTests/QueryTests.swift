import CloudSync
import Foundation
import Records
import Testing

@Suite("Queries: CKQuery and its order")
struct QueryTests {
  private func query() -> CKQuery {
    let query = CKQuery(
      recordType: "Item",
      predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(
          format: "owner == %@ AND when > %@", argumentArray: [PredicateFixture.owner(1), Date()]),
        NSPredicate(
          format: "score < %f AND raw == %@", argumentArray: [Double.infinity, Data([1])]),
        NSPredicate(
          format: "distanceToLocation:fromLocation:(place, %@) < 5", PredicateFixture.place(1)),
      ]))
    query.sortDescriptors = [
      NSSortDescriptor(key: "creationDate", ascending: false),
      CKLocationSortDescriptor(key: "place", relativeLocation: PredicateFixture.place(3)),
      NSSortDescriptor(key: "n", ascending: true),
    ]
    return query
  }

  /// Proves CS-87.
  @Test("A copied or archived query is equal, and a change to one leaves the other unchanged")
  func copiedQueryIsIndependent() throws {
    let query = query()
    let wanted = try query.converted()
    let copy = try #require(query.copy() as? CKQuery)
    #expect(try copy.converted() == wanted)
    copy.sortDescriptors = nil
    #expect(query.sortDescriptors?.count == 3)
    #expect(try CKQuery(wanted).converted() == wanted)
    #expect(CKQuery(Query(recordType: "Item")).sortDescriptors == nil)
    for one in [query, copy] {
      let data = try NSKeyedArchiver.archivedData(withRootObject: one, requiringSecureCoding: true)
      let read = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data))
      #expect(try read.converted() == one.converted())
      #expect(read.sortDescriptors?.count == one.sortDescriptors?.count)
      #expect(read.description == one.description)
    }
  }

  /// Proves CS-83.
  @Test("Sort descriptors become query sorts, and those without a field name are refused")
  func sortDescriptorsBecomeQuerySorts() throws {
    let query = query()
    let sorts = try query.converted().sorts
    #expect(sorts.map(\.key) == ["___createTime", "place", "n"])
    #expect(sorts.map(\.ascending) == [false, true, true])
    #expect(
      sorts[1].relativeTo == PredicateFixture.place(3).value
        || sorts[1].relativeTo?.latitude == 48.03)
    #expect(
      CKQuery(try query.converted()).sortDescriptors?.map(\.key) == ["creationDate", "place", "n"])
    var table: [(NSSortDescriptor, String)] = [
      (NSSortDescriptor(key: nil, ascending: true), "without a key"),
      (NSSortDescriptor(key: "a.b", ascending: true), "is a path"),
      (NSSortDescriptor(key: "9", ascending: true), "not a field's name"),
    ]
    // On Apple's platforms only properties that Objective-C knows have such descriptors.
    #if !canImport(Darwin)
      let modified = NSSortDescriptor(keyPath: \CKRecord.modificationDate, ascending: true)
      query.sortDescriptors = [modified]
      #expect(try query.converted().sorts.map(\.key) == ["___modTime"])
      table.append((NSSortDescriptor(keyPath: \String.count, ascending: true), "without a key"))
    #endif
    for (descriptor, sentence) in table {
      query.sortDescriptors = [descriptor]
      let error = #expect(throws: CKError.self) { try query.converted() }
      #expect(
        error?.code == .invalidArguments && error?.localizedDescription.contains(sentence) == true)
    }
  }

  // On Apple's platforms Foundation sorts.
  #if !canImport(Darwin)
    /// Proves CS-83.
    @Test("Descriptors sort records locally by number, date, text and place, missing values last")
    func sortDescriptorsOrderRecordsLocally() {
      let records = PredicateFixture.records
      func names(_ descriptors: [NSSortDescriptor]) -> [String] {
        let sorted = NSArray(array: records).sortedArray(using: descriptors)
        return sorted.compactMap { ($0 as? CKRecord)?.recordID.recordName }
      }
      func expected(_ areInOrder: (CKRecord, CKRecord) -> Bool) -> [String] {
        records.sorted(by: areInOrder).map(\.recordID.recordName)
      }
      #expect(names([.init(key: "n", ascending: false)]) == expected { $0.number > $1.number })
      #expect(
        names([.init(key: "when", ascending: true)])
          == expected { $0.date("when") < $1.date("when") }
      )
      #expect(
        names([.init(key: "in", ascending: true), .init(key: "creationDate", ascending: false)])
          == expected { ($0.int("in"), -$0.number) < ($1.int("in"), -$1.number) })
      #expect(
        names([.init(key: "note", ascending: true)]).prefix(2).allSatisfy {
          ["r0", "r5", "r10"].contains($0)
        })
      let near = CKLocationSortDescriptor(
        key: "place", relativeLocation: PredicateFixture.place(40))
      #expect(names([near]).first == "r40")
      #expect(
        NSSortDescriptor(key: "n", ascending: true) == NSSortDescriptor(key: "n", ascending: true))
      let reversed =
        NSSortDescriptor(key: "n", ascending: true).reversedSortDescriptor as? NSSortDescriptor
      #expect(reversed?.key == "n" && reversed?.ascending == false)
    }
  #endif

  @Test(
    "The value of now() is the conversion time, and a refused query stays refused in an archive")
  func nowIsTimeOfQueryConversion() throws {
    let now = PredicateFixture.date(3)
    let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: "when < now()"))
    #expect(
      try query.converted(now: now).filters.first?.value
        == .date(Timestamp(secondsSinceReferenceDate: now.timeIntervalSinceReferenceDate)))
    var predicates = [NSPredicate { _, _ in true }]
    #if !canImport(Darwin)
      predicates.append(NSPredicate(format: "a =="))
    #endif
    for predicate in predicates {
      let refused = CKQuery(recordType: "Item", predicate: predicate)
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: refused, requiringSecureCoding: true)
      let read = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data))
      let error = #expect(throws: CKError.self) { try read.converted() }
      #expect(error?.code == .invalidArguments)
    }
  }

  @Test("A description names the type and the shape of the predicate, and none of its values")
  func queryDescriptionShowsNoValues() {
    let query = CKQuery(
      recordType: "Item", predicate: NSPredicate(format: "n == 5 AND name == 'Ada'"))
    #expect(
      query.description
        == "<CKQuery: recordType=Item, predicate=n == <int64> AND name == <string>>")
  }

  #if !canImport(Darwin)
    @Test("A location descriptor orders by distance, and a record without a location is last")
    func locationDescriptorOrdersByDistance() {
      let records = PredicateFixture.records
      let near = CKLocationSortDescriptor(key: "place", relativeLocation: PredicateFixture.place(3))
      let none = CKRecord(recordType: "Item")
      let table: [(CKRecord, CKRecord, ComparisonResult)] = [
        (records[3], records[5], .orderedAscending), (records[5], records[3], .orderedDescending),
        (records[5], records[5], .orderedSame), (none, records[40], .orderedDescending),
        (records[40], none, .orderedAscending), (none, none, .orderedSame),
      ]
      for (first, second, order) in table { #expect(near.compare(first, to: second) == order) }
    }

    @Test(
      "A descriptor puts missing values first, and differs from one of another key or direction")
    func keyDescriptorOrdersMissingValuesFirst() {
      let ascending = NSSortDescriptor(key: "a", ascending: true)
      let descending = NSSortDescriptor(key: "a", ascending: false)
      let (none, one, text): ([String: Any], [String: Any], [String: Any]) =
        ([:], ["a": 1], ["a": "x"])
      let table: [([String: Any], [String: Any], ComparisonResult)] = [
        (none, one, .orderedAscending), (one, none, .orderedDescending), (none, none, .orderedSame),
        (one, text, .orderedSame),
      ]
      for (first, second, order) in table {
        #expect(ascending.compare(first, to: second) == order)
        #expect(descending.compare(second, to: first) == order)
      }
      #expect(!ascending.isEqual(descending))
      #expect(!ascending.isEqual(NSSortDescriptor(key: "b", ascending: true)))
    }
  #endif
}
