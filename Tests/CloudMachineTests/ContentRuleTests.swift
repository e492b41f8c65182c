import CloudMachine
import CloudProtocol
import Records
import Testing

/// Values that no record can hold.
struct ContentRuleTests {
  /// Proves CS-186.
  @Test func aReferenceWithoutANameAndAPlaceOffTheEarthAreRefusedWithTheFieldsName() throws {
    let world = try World()
    let nameless = FieldValue.reference(Reference(target: id(""), action: .none))
    let values: [FieldValue] =
      [nameless, .list([nameless])]
      + [(91.0, 0.0), (-90.001, 0), (0, 181), (0, -180.5), (.nan, 0), (0, .infinity)].map {
        .location(Location(latitude: $0, longitude: $1))
      }
    for value in values {
      let request = ModifyRecords(save: [fresh("a", ["place": value])])
      guard case .recordsModified(let saved, _) = try world.ask(.modifyRecords(request)).reply()
      else { throw Unexpected() }
      let error = saved.first?.error
      #expect(error?.code == .invalidArguments && error?.message.contains("'place'") == true)
    }
    #expect(try world.names().isEmpty)
    for (latitude, longitude) in [(90.0, 180.0), (-90, -180), (0, 0)] {
      let place = FieldValue.location(Location(latitude: latitude, longitude: longitude))
      #expect(try world.modify([fresh("\(latitude)", ["place": place])]) == "+\(latitude) ok")
    }
  }

  @Test("The error of an invalid name shows its beginning and says what a name needs")
  func errorShowsInvalidName() throws {
    let world = try World()
    let long = String(repeating: "n", count: 256)
    let letters = "255 ASCII letters, digits or underscores, a letter first"
    let printable = "255 printable ASCII characters and no underscore first"
    let cases: [(RecordSave, String)] = [
      (fresh("a", ["1st": .int64(1)]), "'1st' is not a field name: it needs 1 to \(letters)"),
      (fresh("a", type: "T T"), "'T T' is not a record type: it needs 1 to \(letters)"),
      (fresh("_a"), "'_a' is not a record name: it needs 1 to \(printable)"),
      (fresh(long), "'\(long.prefix(64))…' is not a record name: it needs 1 to \(printable)"),
      (fresh(""), "'' is not a record name: it needs 1 to \(printable)"),
    ]
    for (save, message) in cases {
      let request = ModifyRecords(save: [save])
      guard case .recordsModified(let saved, _) = try world.ask(.modifyRecords(request)).reply()
      else { throw Unexpected() }
      #expect(saved.first?.error?.message == message)
    }
  }
}
