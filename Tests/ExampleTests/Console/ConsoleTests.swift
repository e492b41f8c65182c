import Testing

/// Drives the console in a browser with clicks and keys; see `ConsoleWorld` for what it needs.
@Suite("The console in a browser", .serialized)
struct ConsoleTests {
  @Test("The console lists the records of a zone and shows one with its fields")
  func consoleListsAndShowsRecords() async throws {
    try await ConsoleWorld.run(["bread", "milk"]) { world in
      let page = world.browser
      try await page.wait(for: "says('main h2', '2 records')")
      let (names, fields) = (try await page.texts(".record h4"), try await page.texts(".record dl"))
      #expect(names == ["bread", "milk"])
      #expect(fields == ["title\nMilk\nstring", "title\nMilk\nstring"])
      try await page.picture("records")
    }
  }
}
