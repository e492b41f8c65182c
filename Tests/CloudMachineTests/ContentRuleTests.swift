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
}
