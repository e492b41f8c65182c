import Foundation
import Testing

extension ConsoleSuite {
  /// Fills in forms of the console while other things happen; see `ConsoleWorld` for what it needs.
  @Suite("Forms in the console")
  struct ConsoleFormTests {
    @Test("A save that ends late closes no other form, and its form takes no input meanwhile")
    func lateSaveClosesNoOtherForm() async throws {
      try await ConsoleWorld.run(["bread", "milk"]) { world in
        let page = world.browser
        try await page.click("tbody th a", "bread")
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Rye")
        try await page.hold("records/modify")
        try await page.click("button", "Save")
        try await page.waitForHeldRequest()
        let isInert = "Boolean(place('input', 'title').closest('[inert]'))"
        #expect(try await page.read(isInert) as? Bool == true)
        try await page.click("#changes a", "milk")
        try await page.click("dialog button", "Discard")
        try await page.wait(for: "says('#recordView h3', 'milk')")
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Oat")
        try await page.letHeldRequestGo()
        #expect(try await page.text("String(place('input', 'title')?.value)") == "Oat")
        try await page.click("button", "Save")
        try await page.wait(for: "says('#recordView h3', 'milk') && says('.value', 'Oat')")
        #expect(try await world.value(of: "title", in: "bread") == "\"Rye\"")
        // A refused save gives the form back.
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Soy")
        try await world.order(
          "action: 'fail', code: 'serverRejectedRequest', kind: 'modifyRecords'")
        try await page.press("Enter")
        try await page.wait(
          for: "[...document.querySelectorAll('form.card [role=alert]')].some(one => one.innerText)"
            + " && document.activeElement === place('input', 'title')")
        #expect(try await page.read(isInert) as? Bool == false)
        try await page.press("Enter")
        try await page.wait(
          for: "says('.value', 'Soy') && document.activeElement === place('button', 'Edit')")
      }
    }

    @Test("A form changes the place that it was opened for, whatever is loaded meanwhile")
    func formKeepsItsPlace() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await world.addShop()
        try await page.click("tbody th a", "bread")
        try await page.wait(for: "place('button', 'Edit') && place('nav a', 'shop')")
        // While another zone is read, the record on the page is still that of its own zone.
        try await page.hold("zone=shop")
        try await page.click("nav a", "shop")
        try await page.waitForHeldRequest()
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Rye")
        try await page.click("button", "Save")
        try await page.wait(for: "says('.value', 'Rye')")
        #expect(try await page.text("location.hash").contains("zone=_defaultZone"))
        // A new record is for the zone that was chosen.
        try await page.click("#path a", "all records of the zone")
        try await page.wait(for: "says('main h2', '_defaultZone 1 record')")
        try await page.hold("/cloudsync/1/status")
        try await page.click("nav a", "shop")
        try await page.waitForHeldRequest()
        try await page.click("button", "New record")
        try await page.fill("input", "Record type", with: "Note")
        try await page.fill("input", "Record name", with: "oats")
        try await page.click("button", "Create")
        try await page.wait(for: "says('#recordView h3', 'oats')")
        #expect(try await page.text("location.hash").contains("zone=shop"))
        // An action on a zone says which one it is.
        try await page.click("#zoneActions summary")
        try await page.click("button", "Delete zone")
        try await page.wait(for: "says('dialog', 'shop of default')")
        #expect(try await page.read("says('dialog', 'iCloud.test')") as? Bool == true)
        try await page.click("dialog button", "Cancel")
      }
    }

    private static let counts = #"""
      {"operationType":"forceUpdate","record":{"recordName":"bread","recordType":"Note","fields":{
      "counts":{"value":[1],"type":"INT64_LIST"}}}}
      """#

    /// Lists of values that a form can't show as they are, and an emptied list of whole numbers.
    private static let lists = #"""
      {"operationType":"forceUpdate","record":{"recordName":"bread","recordType":"Note","fields":{
      "counts":{"value":[],"type":"INT64_LIST"},
      "place":{"type":"LOCATION","value":{"latitude":1.5,"longitude":2.5,"altitude":3,"speed":4}},
      "places":{"type":"LOCATION_LIST","value":[
      {"latitude":1.5,"longitude":2.5,"altitude":3,"timestamp":5000},
      {"latitude":8,"longitude":9,"course":7}]},
      "texts":{"type":"STRING_LIST","value":["a\r\nb","c\rd","e"]},
      "names":{"type":"REFERENCE_LIST","value":[{"recordName":" a ","action":"NONE"},
      {"recordName":"b","action":"NONE"}]},
      "dates":{"type":"TIMESTAMP_LIST","value":[400000000000000,0]}}}}
      """#

    /// The form's input, what is typed into it, and the stored value of its field.
    private static let edits: [(input: String, typed: String, field: String, stored: String)] = [
      ("counts, item 1", "7", "counts", "[7]"),
      (
        "place", "1.5, 3", "place", #"{"latitude":1.5,"longitude":3,"altitude":3,"speed":4}"#
      ),
      (
        "places, item 2", "10, 9", "places",
        #"[{"latitude":1.5,"longitude":2.5,"altitude":3,"timestamp":5000},"#
          + #"{"latitude":10,"longitude":9,"course":7}]"#
      ),
      ("texts, item 3", "f", "texts", #"["a\r\nb","c\rd","f"]"#),
      ("dates, item 2", "1970-01-01 00:00:01", "dates", "[400000000000000,1000]"),
    ]

    /// A new field with a value that is none; no text for a list with an item that has no file.
    private static let refused: [(name: String, type: String, typed: String?, words: String)] = [
      ("day", "date", "2026-02-30", "day: “2026-02-30” is not a date"),
      ("files", "list: file", nil, "files, item 1: choose a file."),
    ]

    @Test("An edit changes nothing else, a date is in UTC, and what is no value is refused")
    func editChangesNothingElse() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.send("Emulation.setTimezoneOverride", ["timezoneId": "Asia/Tokyo"])
        try await world.modify(Self.counts)
        try await world.modify(Self.lists)
        try await page.click("tbody th a", "bread")
        try await page.wait(for: "says('dd', 'list: whole number')")
        try await page.click("button", "Edit")
        try await page.click("button", "Add item to counts")
        for (input, typed, _, _) in Self.edits {
          try await page.fill("input", input, with: typed)
        }
        try await page.fill("input", "names, item 2", with: "c")
        try await page.click("button", "Save")
        try await page.wait(for: "!place('form.card')")
        for (_, _, field, stored) in Self.edits {
          #expect(try await world.value(of: field, in: "bread") == stored, "\(field)")
        }
        let names = try await world.value(of: "names", in: "bread")
        #expect(names.contains(#""recordName":" a ""#) && names.contains(#""recordName":"c""#))

        try await page.click("button", "Edit")
        for (name, type, typed, words) in Self.refused {
          try await page.fill("input", "New field", with: name)
          try await page.choose("select", "Type of the new field", type)
          // A save does not lose what was typed.
          try await page.click("button", "Save")
          try await page.wait(for: "says('form [role=alert]', '“\(name)” was not added')")
          try await page.click("button", "Add field")
          if let typed {
            try await page.type(typed)
          } else {
            try await page.click("button", "Add item to \(name)")
          }
          try await page.click("button", "Save")
          try await page.wait(for: "says('form [role=alert]', '\(words)')")
          try await page.click("button", "Remove field \(name)")
          try await page.wait(for: "place('button', 'Keep field \(name)')")
        }
        try await page.click("button", "Cancel")
        try await page.click("dialog button", "Discard")
        let time = try await page.text(
          """
          String(new PredicateReader('due < "2026-11-23 10:00"', new Map([['due', 'TIMESTAMP']]))
            .filters()[0].fieldValue.value)
          """)
        #expect(time == "1795428000000")
      }
    }

    @Test("Items of a list keep their numbers in order, and the focus goes back when a form closes")
    func labelsAndFocusFollow() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await world.modify(Self.counts)
        try await world.modify(Self.lists)
        try await page.click("tbody th a", "bread")
        try await page.click("button", "Edit")
        try await page.click("button", "Remove item 2 of dates")
        try await page.click("button", "Remove item 1 of names")
        try await page.wait(
          for: "place('input', 'names, item 1')?.value === 'b' && !place('input', 'names, item 2')"
            + " && document.activeElement === place('button', 'Add item to names')")
        try await page.click("button", "Cancel")
        try await page.click("dialog button", "Discard")
        try await page.wait(for: "document.activeElement === place('button', 'Edit')")
        try await page.click("#path a", "all records of the zone")
        try await page.click("button", "New record")
        try await page.click("button", "Cancel")
        try await page.wait(
          for: "document.activeElement === place('button', 'New record')")
      }
    }
  }
}
