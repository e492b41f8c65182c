import Foundation
import Testing

extension ConsoleSuite {
  /// Administers a server in the console; see `ConsoleWorld` for what it needs.
  @Suite("Data, schema and events in the console")
  struct ConsoleDataTests {
    @Test("The data is exported, deleted after a question, and imported again")
    func dataIsExportedResetAndImported() async throws {
      try await ConsoleWorld.run(["bread", "milk"]) { world in
        let page = world.browser
        try await page.send(
          "Browser.setDownloadBehavior",
          ["behavior": "allow", "downloadPath": world.path("downloads")], toPage: false)
        try await page.wait(for: "says('main h2', '2 records')")
        try await page.click("button", "Export")
        let archive = world.path("downloads/cloudsync-archive.jsonl")
        while !FileManager.default.fileExists(atPath: archive) { await Task.yield() }
        try await page.click("button", "Reset")
        try await page.click("dialog button", "Cancel")
        #expect(try await page.texts("main h2") == ["_defaultZone 2 records"])
        try await page.click("button", "Reset")
        try await page.wait(for: "says('dialog', 'Delete all accounts')")
        try await page.click("dialog button", "Reset")
        try await page.wait(for: "says('main h2', 'Nothing stored yet')")
        try await page.picture("empty")
        let wrong = world.path("wrong.txt")
        try Data("no archive".utf8).write(to: URL(fileURLWithPath: wrong))
        try await page.attach(wrong, to: "#import")
        try await page.wait(for: "says('#dataWrong', 'archive')")
        try await page.attach(archive, to: "#import")
        try await page.wait(for: "says('main h2', '2 records')")
        #expect(try await page.texts("tbody th a") == ["bread", "milk"])
      }
    }

    @Test("A field without its index can't be queried, and a request shows its parts and duration")
    func indexesAreSetAndRequestsExplained() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.wait(for: "place('tbody th a', 'bread') && place('#schema summary')")
        try await page.click("#schema summary")
        try await page.click("input", "Note.title is queryable")
        try await page.wait(for: "place('input', 'Note.title is queryable')?.checked === false")
        try await page.picture("schema")
        try await page.choose("select", "Record type", "Note")
        try await page.fill("#where", with: #"title = "Milk""#)
        try await page.press("Enter")
        try await page.wait(for: "says('#wrong', 'queryable')")
        try await page.choose("#feedKind", nil, "failures")
        try await page.wait(for: "says('#feed', 'queryRecords') && !says('#feed', 'modifyRecords')")
        try await page.click("#feed summary")
        try await page.wait(for: "says('#feed dl', 'duration')")
        let parts = try await page.texts("#feed dl > div")
        #expect(parts.contains("operation\nqueryRecords"), "\(parts)")
        #expect(parts.contains("outcome\nfailed: invalidArguments"), "\(parts)")
        #expect(parts.contains { $0.hasPrefix("duration\n") && $0.hasSuffix(" ms") }, "\(parts)")
        try await page.picture("request")
        try await page.choose("#feedKind", nil, "pushes")
        try await page.wait(for: "!place('#feed li')")
      }
    }
  }
}
