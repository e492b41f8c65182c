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
        let isClosed = try await page.read("document.getElementById('import').disabled") as? Bool
        #expect(isClosed == true, "an archive needs an empty server")
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
        // With the accounts, the devices of other programs are gone, that of the console too.
        try await page.wait(for: "!place('#devices li') && !place('#accounts li')")
        try await page.picture("empty")
        let wrong = world.path("wrong.txt")
        try Data("no archive".utf8).write(to: URL(fileURLWithPath: wrong))
        try await page.attach(wrong, to: "#import")
        try await page.wait(for: "says('#dataWrong', 'archive')")
        try await page.read(
          """
          globalThis.notes = [];
          new MutationObserver(() => notes.push(document.getElementById('dataNote').innerText))
            .observe(document.getElementById('dataNote'), {childList: true});
          0
          """)
        try await page.attach(archive, to: "#import")
        try await page.wait(for: "says('main h2', '2 records')")
        // It says what it is doing, and then that it is done; the error before is over.
        try await page.wait(for: "says('#dataNote', 'Imported cloudsync-archive.jsonl (')")
        let first = try await page.text("notes[0]")
        #expect(first.hasPrefix("Importing cloudsync-archive.jsonl (") && first.hasSuffix("…"))
        #expect(try await page.text("document.getElementById('dataWrong').innerText") == "")
        #expect(try await page.texts("tbody th a") == ["bread", "milk"])
      }
    }

    @Test("An empty server gets its first zone and record in the console, also a public one")
    func emptyServerGetsZonesAndRecords() async throws {
      try await ConsoleWorld.run([]) { world in
        let page = world.browser
        try await page.click("button", "Reset")
        try await page.click("dialog button", "Reset")
        try await page.wait(for: "says('#welcome', 'Create a zone here')")
        try await page.click("#welcome button", "New zone")
        try await page.fill("#zoneAccount", with: "ann")
        try await page.fill("#zoneContainer", with: "iCloud.new")
        try await page.fill("#zoneName", with: "plans")
        try await page.picture("new-zone")
        try await page.click("button", "Create zone")
        try await page.wait(for: "says('main h2', 'plans') && says('main h2', '0 records')")
        try await page.wait(for: "says('#tree', 'ann · private') && says('#accounts', 'ann')")
        try await page.click("button", "New record")
        try await page.fill("input", "Record type", with: "Plan")
        try await page.fill("input", "Record name", with: "first")
        try await page.click("button", "Create")
        try await page.wait(for: "says('#recordView h3', 'first')")

        try await page.click("nav button", "New zone")
        try await page.choose("#zoneScope", nil, "public")
        try await page.wait(for: "!place('#zoneName')")
        try await page.choose("#zoneEnvironment", nil, "production")
        try await page.click("button", "Create zone")
        try await page.wait(for: "says('#path', 'public') && says('#path', 'production')")
        try await page.wait(for: "says('main h2', '_defaultZone 0 records')")
        // A name that no zone can have is refused in the form.
        try await page.click("nav button", "New zone")
        try await page.choose("#zoneScope", nil, "private")
        try await page.fill("#zoneName", with: "_plans")
        try await page.click("button", "Create zone")
        try await page.wait(for: "says('form.card [role=alert]', 'BAD_REQUEST')")
        try await page.click("button", "Cancel")
        try await page.click("dialog button", "Discard")
        try await page.wait(for: "document.activeElement.id === 'newZone'")
      }
    }

    @Test("Tokens are expired after a question, and a browser finds an icon")
    func tokensExpireAfterQuestion() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        let log = "document.querySelectorAll('#feed .warn').length"
        try await page.click("#zoneActions summary")
        for (answer, count) in [("Cancel", 0), ("Expire tokens", 1)] {
          try await page.click("button", "Expire tokens")
          try await page.wait(for: "says('dialog', 'Every device fetches it again')")
          try await page.click("dialog button", answer)
          try await page.wait(for: "!document.querySelector('dialog') && \(log) === \(count)")
        }
        let icon = try await page.read("fetch('/favicon.ico').then(answer => answer.status)")
        #expect(icon as? Int == 204)
      }
    }

    @Test("A field without its index can't be queried, and a request shows its parts and duration")
    func indexesAreSetAndRequestsExplained() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.wait(for: "place('tbody th a', 'bread') && place('#schema summary')")
        try await page.click("#schema summary")
        // Two clicks in a row do not undo each other.
        try await page.read(
          "for (const index of ['queryable', 'sortable']) place('input', `Note.title is ${index}`)"
            + ".click()")
        try await page.wait(
          for: "['queryable', 'sortable'].every(index => place('input', `Note.title is ${index}`)"
            + "?.checked === false)")
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
