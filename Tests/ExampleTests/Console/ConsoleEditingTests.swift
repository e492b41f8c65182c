import Foundation
import Testing

extension ConsoleSuite {
  /// Makes, changes and deletes records in the console; see `ConsoleWorld` for what it needs.
  @Suite("Editing in the console")
  struct ConsoleEditingTests {
    /// A value of each type, as it is typed, and as the record shows it.
    private static let values: [(type: String, typed: String, shown: String)] = [
      ("text", "Täglich <b>frisch</b>", "Täglich <b>frisch</b>"),
      ("whole number", "9007199254740993", "9007199254740993"), ("number", "2.5", "2.5"),
      ("date", "2026-11-23T10:00:00.250Z", "2026-11-23 10:00:00.250Z"),
      ("bytes", "3q2+7w==", "4 B  3q2+7w=="), ("reference", "bread", "→ bread"),
      ("location", "48.25, 16.5", "48.25, 16.5"),
    ]

    private static func name(_ first: String, _ type: String) -> String {
      first + "_" + type.replacingOccurrences(of: " ", with: "_")
    }

    private static func addField(_ page: Browser, _ name: String, _ type: String) async throws {
      try await page.fill("input", "New field", with: name)
      try await page.choose("select", "Type of the new field", type)
      try await page.click("button", "Add field")
    }

    @Test(
      "A record is made with a field of every type and a list of each, then changed and deleted")
    func recordsAreMadeChangedAndDeleted() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.click("button", "New record")
        try await page.fill("input", "Record type", with: "Order")
        try await page.fill("input", "Record name", with: "first")
        for (type, typed, _) in Self.values {
          try await Self.addField(page, Self.name("one", type), type)
          try await page.type(typed)
          let all = Self.name("all", type)
          try await Self.addField(page, all, "list: \(type)")
          for item in 1...2 {
            try await page.click("button", "Add item to \(all)")
            try await page.wait(
              for: "document.activeElement.ariaLabel === '\(all), item \(item)'")
            try await page.type(typed)
          }
        }
        let file = world.path("picture.png")
        try Self.picture.write(to: URL(fileURLWithPath: file))
        try await Self.addField(page, "photo", "file")
        try await page.attach(file, to: "input", "photo")
        try await page.picture("form")
        try await page.click("button", "Create")
        try await page.wait(for: "says('#recordView h3', 'first')")
        let fields = try await page.texts(".fields > div")
        for (type, _, shown) in Self.values {
          let (one, all) = (Self.name("one", type), Self.name("all", type))
          #expect(fields.contains("\(one)\n\(shown)\n\(type)"), "\(fields)")
          #expect(fields.contains { $0.hasPrefix("\(all)\n\(shown)\n") }, "\(fields)")
          #expect(fields.contains { $0.hasSuffix("\(shown)\nlist: \(type)") }, "\(fields)")
        }
        try await page.click("button", "Show photo")
        try await page.wait(for: "document.querySelector('.preview img')?.naturalWidth === 1")
        try await page.picture("record-of-all-types")

        try await page.click("button", "Edit")
        try await page.fill("input", "one_number", with: "-0.125")
        try await page.click("button", "Remove field one_text")
        try await page.click("button", "Save")
        try await page.wait(for: "says('.value', '-0.125')")
        let changed = try await page.texts(".fields > div")
        #expect(changed.count == fields.count - 1 && !changed.contains { $0.hasPrefix("one_text") })
        // What was not changed was not sent: the number is as exact as it was.
        #expect(changed.contains("one_whole_number\n9007199254740993\nwhole number"))

        try await page.click("button", "Delete")
        try await page.wait(for: "says('dialog', 'Delete the record “first”?')")
        try await page.picture("delete")
        try await page.click("dialog button", "Delete record")
        try await page.wait(for: "says('main h2', '1 record')")
        try await page.wait(for: "says('#changes', 'deleted')")
      }
    }

    @Test("A file with text is shown as text, other bytes by their size")
    func textFilesAreShownAsText() async throws {
      try await ConsoleWorld.run { world in
        let page = world.browser
        let files: [(name: String, content: Data, selector: String, shown: String)] = [
          ("letter.txt", Data("Grüße\nan <b>alle</b>".utf8), ".preview pre", "an <b>alle</b>"),
          // Two bytes a character, at odd places: the shown part ends within one.
          (
            "long.txt", Data(("a long one." + String(repeating: "ü", count: 20_000)).utf8),
            ".preview pre", "a long one"
          ),
          ("noise", Data([0, 1, 2, 0xFF]), ".preview p", "neither text nor a picture"),
        ]
        for (name, content, selector, shown) in files {
          try content.write(to: URL(fileURLWithPath: world.path(name)))
          try await page.click("button", "New record")
          try await page.fill("input", "Record type", with: "Letter")
          try await page.fill("input", "Record name", with: name)
          try await Self.addField(page, "body", "file")
          try await page.attach(world.path(name), to: "input", "body")
          try await page.click("button", "Create")
          try await page.click("button", "Show body")
          try await page.wait(for: "says('\(selector)', '\(shown)')")
          try await page.click("#path a", "all records of the zone")
          try await page.wait(for: "place('button', 'New record')")
        }
      }
    }

    @Test("A wrong value is refused in the server's words, and the record stays as it was")
    func wrongValuesAreRefusedInServersWords() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        let wrong = [
          ("whole number", "12 or so", "INT64"), ("number", "much", "DOUBLE"),
          ("date", "tomorrow", "TIMESTAMP"), ("bytes", "*", "BYTES"),
          ("location", "here", "LOCATION"),
        ]
        try await page.click("tbody th a", "bread")
        for (type, typed, name) in wrong {
          try await page.click("button", "Edit")
          try await Self.addField(page, "field", type)
          try await page.type(typed)
          try await page.click("button", "Save")
          try await page.wait(for: "says('form [role=alert]', 'expected type \(name)')")
          let words = try await page.texts("form [role=alert]")
          #expect(
            words == ["Invalid value, expected type \(name). Field 'field'. (BAD_REQUEST)"])
          if type == "date" { try await page.picture("wrong-date") }
          try await page.click("button", "Cancel")
          try await page.wait(for: "place('button', 'Edit')")
          #expect(try await page.texts(".fields > div") == ["title\nMilk\ntext"])
        }
        // A record that another device changed meanwhile.
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Rye")
        #expect(
          try await world.cloud.save("bread", operation: "forceUpdate", title: "White") == 200)
        try await page.wait(for: "says('#feed', 'modifyRecords')")
        try await page.click("button", "Save")
        try await page.wait(for: "says('form [role=alert]', 'CONFLICT')")
        try await page.click("button", "Cancel")
        try await page.wait(for: "says('.value', 'White')")
      }
    }

    /// A picture of one red point.
    private static let picture =
      Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPY"
          + "oCYDAAJ8APN9Gk1ZAAAAAElFTkSuQmCC") ?? Data()
  }
}
