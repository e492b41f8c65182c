import CloudProtocol
import Foundation
import Records
import Testing

/// Fields in the order of their names, and what is picked from them.
struct FieldsTests {
  @Test("Fields hold the same values as a dictionary, in the order of their names")
  func fieldsAreOrderedByName() {
    var fields = Fields()
    var model: [String: Field] = [:]
    var state: UInt64 = 7
    for step in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let key = "k\((state >> 40) % 50)"
      let field = (state >> 35) % 3 == 0 ? nil : Field(.int64(Int64(step)))
      fields[key] = field
      model[key] = field
      #expect(fields[key] == model[key] && fields.count == model.count)
    }
    #expect(fields.keys == model.keys.sorted())
    #expect(fields.map(\.field) == fields.keys.map { model[$0] })
    #expect(Fields(fields.reversed()) == fields)
    #expect(fields.isEmpty == model.isEmpty)
  }

  /// Put in one by one they would be moved five thousand million times, for half a minute.
  ///
  /// What counts is the processor's time for this thread, which no other test takes part in.
  @Test("One hundred thousand fields in the worst order are sorted", .timeLimit(.minutes(20)))
  func worstCaseFieldOrderIsSorted() {
    let start = processorSeconds
    let count = 100_000
    let elements = (0..<2 * count).reversed().map { number in
      Fields.Element(
        key: "\(1_000_000 + number % count)", field: Field(.int64(Int64(number))))
    }
    var fields = Fields(elements)
    #expect(fields.count == count)
    #expect(zip(fields, fields.dropFirst()).allSatisfy { $0.key < $1.key })
    #expect(fields.enumerated().allSatisfy { $1.field == Field(.int64(Int64($0))) })
    fields.apply(elements.dropLast(count).map { (key: $0.key + "x", field: $0.field) })
    #expect(fields.count == 2 * count)
    fields.apply(elements.map { (key: $0.key, field: nil) })
    #expect(fields.count == count && fields.keys.allSatisfy { $0.hasSuffix("x") })
    #expect(processorSeconds - start < 20)
  }

  /// How long the processor has worked for this thread.
  private var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test("Changes applied together have the same result as one by one")
  func combinedChangesEqualSingleChanges() {
    var state: UInt64 = 11
    let next = { (count: UInt64) -> UInt64 in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % count
    }
    // Two spellings of one text among them.
    let names = (0..<40).map { "k\($0)" } + ["\u{E9}", "e\u{301}"]
    var one = Fields()
    var all = Fields()
    for step in 0..<200 {
      var changes: [(key: String, field: Field?)] = []
      for _ in 0..<next(120) {
        let field = next(3) == 0 ? nil : Field(.int64(Int64(next(1000))))
        changes.append((key: names[Int(next(42))], field: field))
      }
      for change in changes { one[change.key] = change.field }
      all.apply(changes)
      let isSame = one == all && one.keys.map { Array($0.utf8) } == all.keys.map { Array($0.utf8) }
      if !isSame { Issue.record("step \(step): \(all.keys), and one by one \(one.keys)") }
    }
    #expect(!one.isEmpty)
  }

  @Test("Of two names with equal text, the first name and the later field are kept")
  func equivalentNamesKeepFirstSpelling() {
    let others = (0..<40).map { Fields.Element(key: "a\($0)", field: Field(.int64(0))) }
    let composed = Fields.Element(key: "\u{E9}", field: Field(.int64(1)))
    let decomposed = Fields.Element(key: "e\u{301}", field: Field(.int64(2)))
    let plain = Fields.Element(key: "e", field: Field(.int64(3)))
    for names in [[composed, decomposed, plain], [composed, plain, decomposed]] {
      for elements in [names, others + names] {
        let fields = Fields(elements)
        #expect(fields.count == elements.count - 1)
        #expect(fields.keys.last?.unicodeScalars.count == 1)
        #expect(fields["\u{E9}"] == decomposed.field)
      }
    }
  }

  @Test("Fields decoded from JSON are sorted, and of two with one name the later counts")
  func decodedFieldsAreSorted() throws {
    let element = { (key: String, value: Int) in
      #"{"key":"\#(key)","field":{"value":{"int64":{"_0":\#(value)}},"isEncrypted":false}}"#
    }
    let json = #"{"elements":[\#(element("b", 1)),\#(element("a", 2)),\#(element("b", 3))]}"#
    let fields = try JSONDecoder().decode(Fields.self, from: Data(json.utf8))
    #expect(fields == ["a": .int64(2), "b": .int64(3)])
    #expect(try JSONDecoder().decode(Fields.self, from: JSONEncoder().encode(fields)) == fields)
  }

  @Test("Selections keep all, none or some fields, and ignore names that are missing")
  func selectionsKeepNamedFields() {
    let fields: Fields = ["a": .int64(1), "b": .int64(2), "c": .int64(3)]
    #expect(FieldSelection.all.applied(to: fields) == fields)
    #expect(FieldSelection.none.applied(to: fields) == [:])
    #expect(
      FieldSelection.keys(["c", "x", "a", "a"]).applied(to: fields)
        == ["a": .int64(1), "c": .int64(3)])
  }

  @Test("Sizes count names and values, but no files")
  func sizesCountNamesAndValues() {
    let record = Record(
      id: RecordID(name: "name", zone: .default), type: "Type",
      fields: [
        "s": .string("é"), "n": .list([.int64(1), .int64(2)]),
        "f": .asset(Asset(checksum: "abc", size: 1_000_000)),
      ])
    #expect(record.byteCount == 4 + 4 + (1 + 2) + (1 + 16) + 1)
    #expect(RecordSave(record).byteCount == record.byteCount)
  }

  @Test("IDs have one order: by owner, zone, then name")
  func recordIDsSortByOwnerZoneName() {
    let ids = ["b", "a"].flatMap { owner in
      ["y", "x"].flatMap { zone in
        ["2", "1"].map { RecordID(name: $0, zone: ZoneID(name: zone, owner: owner)) }
      }
    }
    #expect(ids.sorted() == ids.reversed())
  }
}
