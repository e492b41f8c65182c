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

    /// Proves X10.
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

    @Test("A wrong value is refused in the words of the form, and the record stays as it was")
    func wrongValuesAreRefusedInWordsOfForm() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        let wrong = [
          ("whole number", "12 or so", "is not a whole number, such as 42."),
          ("whole number", "1.5", "is not a whole number, such as 42."),
          ("whole number", "9223372036854775808", "is not a whole number, such as 42."),
          ("number", "much", "is not a number, such as 2.5."),
          ("date", "tomorrow", "is not a date, such as 2026-11-23T10:00:00Z."),
          ("bytes", "*", "is not bytes in base64, such as 3q2+7w==."),
          ("location", "here", "is not a location, such as 48.2, 16.4."),
        ]
        try await page.click("tbody th a", "bread")
        for (type, typed, words) in wrong {
          try await page.click("button", "Edit")
          try await Self.addField(page, "field", type)
          try await page.type(typed)
          try await page.click("button", "Save")
          try await page.wait(for: "says('form [role=alert]', '\(words)')")
          let shown = try await page.texts("form [role=alert]").filter { !$0.isEmpty }
          #expect(shown == ["field: “\(typed)” \(words)"])
          if type == "date" { try await page.picture("wrong-date") }
          try await discard(page)
          #expect(try await page.texts(".fields > div") == ["title\nMilk\ntext"])
        }
      }
    }

    private func discard(_ page: Browser) async throws {
      try await page.click("button", "Cancel")
      try await page.wait(for: "says('dialog', 'Discard the changes')")
      try await page.click("dialog button", "Discard")
      try await page.wait(for: "place('button', 'Edit')")
    }

    @Test("An edit is lost by a link, a new zone or a new load of the page only after a question")
    func editIsLostOnlyAfterQuestion() async throws {
      try await ConsoleWorld.run(["bread", "milk"]) { world in
        let page = world.browser
        func isKept(_ label: String, _ text: String) async throws {
          try await page.wait(for: "says('dialog', 'Discard the changes in this form?')")
          try await page.click("dialog button", "Cancel")
          try await page.wait(for: "!place('dialog') && place('input', '\(label)')")
          #expect(try await page.text("place('input', '\(label)').value") == text)
        }
        try await page.click("tbody th a", "bread")
        try await page.click("button", "Edit")
        try await page.fill("input", "title", with: "Rye")
        let here = try await page.text("location.hash")
        try await page.click("#path a", "all records of the zone")
        try await isKept("title", "Rye")
        #expect(try await page.text("location.hash") == here)
        try await page.click("#newZone")
        try await isKept("title", "Rye")
        let isAsked = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
        #expect(try await page.read(isAsked) as? Bool == true)
        try await page.click("#path a", "all records of the zone")
        try await page.click("dialog button", "Discard")
        try await page.wait(for: "says('main h2', '2 records')")
        #expect(try await page.read(isAsked) as? Bool == false)

        // So are a zone and a field that were not made yet.
        try await page.click("#newZone")
        try await page.fill("#zoneName", with: "plans")
        try await page.click("#changes a", "bread")
        try await page.wait(for: "says('dialog', 'Discard the changes in this form?')")
        try await page.click("dialog button", "Discard")
        try await page.click("button", "Edit")
        try await page.fill("input", "New field", with: "left")
        try await page.click("#path a", "all records of the zone")
        try await isKept("New field", "left")
        try await page.click("#path a", "all records of the zone")
        try await page.click("dialog button", "Discard")

        // A new record is an edit as soon as something is typed, and without that it is none.
        try await page.click("button", "New record")
        try await page.click("#changes a", "milk")
        try await page.wait(for: "says('#recordView h3', 'milk')")
        try await page.click("#path a", "all records of the zone")
        try await page.click("button", "New record")
        try await page.fill("input", "Record name", with: "oats")
        try await page.click("#changes a", "milk")
        try await isKept("Record name", "oats")
        try await page.click("#changes a", "milk")
        try await page.click("dialog button", "Discard")
        try await page.wait(for: "says('#recordView h3', 'milk') && !place('form.card')")
      }
    }

    @Test("A name that no field can have, and a new list without items, are refused in the form")
    func wrongFieldsAreRefusedInForm() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.click("tbody th a", "bread")
        try await page.click("button", "Edit")
        for (name, words) in [
          ("1st", "A field can’t be called “1st”"), ("größe", "A field can’t be called “größe”"),
          ("a b", "A field can’t be called “a b”"),
          ("title", "There is a field “title” already."),
        ] {
          try await Self.addField(page, name, "text")
          try await page.wait(for: "says('form [role=alert]', '\(words)')")
        }
        try await Self.addField(page, "tags", "list: text")
        try await page.wait(for: "document.querySelectorAll('.edited').length === 2")
        #expect(try await page.texts("form [role=alert]").allSatisfy(\.isEmpty))
        try await page.click("button", "Save")
        try await page.wait(for: "says('form [role=alert]', 'tags: add an item, or remove')")
        try await page.picture("empty-list")
        try await page.click("button", "Add item to tags")
        try await page.type("new")
        try await page.click("button", "Save")
        try await page.wait(for: "says('.value', 'new')")
      }
    }

    @Test("A conflict shows the server's values beside the edit, which is kept and saved onto them")
    func conflictShowsServersValues() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        func saveElsewhere(_ title: String, note: String) async throws {
          let body = #"""
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"bread",
            "recordType":"Note","fields":{"title":{"value":"\#(title)"},
            "note":{"value":"\#(note)"}}}}]}
            """#
          let answer = try await world.cloud.post("records/modify", Data(body.utf8))
          #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"))
        }
        func edit(_ title: String) async throws {
          try await page.click("button", "Edit")
          try await page.fill("input", "title", with: title)
        }
        try await saveElsewhere("Milk", note: "first")
        try await page.click("tbody th a", "bread")
        try await page.wait(for: "says('.value', 'first')")
        try await edit("Rye")
        try await saveElsewhere("White", note: "second")
        try await page.click("button", "Save")
        try await page.wait(for: "says('form [role=alert]', 'CONFLICT')")
        try await page.wait(for: "says('.edited', 'on the server now: White')")
        // The edit is kept; what was not edited is that of the server.
        let values = "[...document.querySelectorAll('.edited input')].map(one => one.value).join()"
        #expect(try await page.text(values) == "second,Rye")
        try await page.picture("conflict")
        // In the activity it is no success.
        try await page.choose("#feedKind", nil, "failures")
        try await page.wait(for: "says('#feed .bad', '1 of 1 refused: CONFLICT')")
        #expect(try await page.read("says('#feed .good', 'ok')") as? Bool == false)
        try await page.click("button", "Save")
        try await page.wait(for: "says('.value', 'Rye') && says('.value', 'second')")

        // The server's value can be taken instead, and the edit given up after a question.
        try await edit("Oat")
        try await saveElsewhere("Spelt", note: "third")
        try await page.click("button", "Save")
        try await page.click("button", "Take the server’s value of title")
        try await page.wait(for: "place('input', 'title')?.value === 'Spelt'")
        try await page.fill("input", "title", with: "Corn")
        try await page.click("button", "Cancel")
        try await page.click("dialog button", "Cancel")
        try await page.wait(for: "place('input', 'title')?.value === 'Corn'")
        try await discard(page)
        try await page.wait(for: "says('.value', 'Spelt') && says('.value', 'third')")
      }
    }

    /// A picture of one red point.
    private static let picture =
      Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPY"
          + "oCYDAAJ8APN9Gk1ZAAAAAElFTkSuQmCC") ?? Data()
  }
}
