import Testing

extension ConsoleSuite {
  /// Drives the console in a browser with clicks and keys; see `ConsoleWorld` for what it needs.
  @Suite("The console in a browser")
  struct ConsoleTests {
    @Test("The console lists the records of a zone and shows one with its fields")
    func consoleListsAndShowsRecords() async throws {
      try await ConsoleWorld.run(["bread", "milk"]) { world in
        let page = world.browser
        try await page.wait(for: "says('main h2', '2 records')")
        try await page.picture("records")
        #expect(try await page.texts("tbody th a") == ["bread", "milk"])
        #expect(try await page.texts("td:nth-child(2)") == ["Milk", "Milk"])
        try await page.click("tbody th a", "milk")
        try await page.wait(for: "says('#recordView h3', 'milk')")
        #expect(try await page.texts(".fields > div") == ["title\nMilk\ntext"])
        try await page.picture("record")
      }
    }
  }
}
