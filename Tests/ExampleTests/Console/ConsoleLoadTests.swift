import Foundation
import Testing

extension ConsoleSuite {
  /// Looks at what the console shows while requests wait or fail; see `ConsoleWorld` for what it
  /// needs.
  @Suite("Loading in the console")
  struct ConsoleLoadTests {
    @Test("A held query holds up neither other addresses nor its own release")
    func heldQueryHoldsUpNothingElse() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await world.addShop()
        try await page.wait(for: "place('nav a', 'shop')")
        func find() async throws {
          try await world.order("action: 'hold', kind: 'queryRecords', count: 1")
          try await page.choose("select", "Record type", "Note")
          try await page.click("#search button", "Find")
          try await world.waitForHeldRequest()
        }
        try await find()
        try await page.click("nav a", "shop")
        try await page.wait(for: "says('main h2', 'shop 1 record')", limit: 30)
        try await world.order("action: 'release'")
        try await find()
        try await page.click("#release")
        try await page.wait(for: "says('main h2', 'shop 1 found')", limit: 30)
      }
    }

    @Test("An address that is chosen while another one loads stays, and one adds no account")
    func chosenAddressStays() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await world.addShop()
        try await page.click("nav a", "shop")
        try await page.wait(for: "says('main h2', 'shop 1 record')")
        // The database opens its first zone of an own name, if no other zone is chosen meanwhile.
        try await world.waitUntilIdle()
        try await page.hold("/cloudsync/1/zones")
        try await page.click("nav a > span", "default · private")
        try await page.waitForHeldRequest()
        try await page.click("nav a", "_defaultZone")
        // The page has ended the request, which gets no answer then.
        try await page.read("letGo(); 0")
        try await page.wait(for: "says('main h2', '_defaultZone 1 record')", limit: 30)
        #expect(try await page.text("location.hash").contains("zone=_defaultZone"))

        try await page.read("location.hash = 'container=iCloud.test&scope=shared&account=ghost'")
        try await page.wait(for: "says('#wrong', 'ghost')", limit: 30)
        let answer = try await page.text(
          """
          serve({...state.place, account: 'ghost'}, 'zones/list', {})
            .then(() => 'answered', error => error.message)
          """)
        #expect(answer == "There is no account “ghost”.")
        let names = try await page.text(
          "ask('accounts').then(({accounts}) => accounts.map(one => one.account).join())")
        #expect(names == "default")
      }
    }

    @Test("Record types and fields may be called like members that every object has")
    func namesOfMembersOfObjectsAreNames() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await world.modify(
          #"""
          {"operationType":"create","record":{"recordType":"constructor","recordName":"one",
          "fields":{"constructor":{"value":"a"},"toString":{"value":"b"}}}},
          {"operationType":"create","record":{"recordType":"constructor","recordName":"two"}}
          """#)
        try await page.wait(for: "says('.table h4', 'constructor')", limit: 30)
        try await page.click(".table:nth-child(2) thead button", "constructor")
        try await page.wait(for: "place('thead button', 'constructor ▲')", limit: 30)
        #expect(try await page.texts(".table:nth-child(2) tbody th a") == ["one", "two"])
        try await page.choose("select", "Record type", "constructor")
        try await page.fill("#where", with: #"constructor = "a""#)
        try await page.press("Enter")
        try await page.wait(for: "says('main h2', '1 found') && says('td', 'b')", limit: 30)
      }
    }

    @Test("What fails is named and tried again, and a forgotten token leaves no contents")
    func failuresAreNamedAndForgottenTokenLeavesNothing() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.answer(
          """
          url.pathname.endsWith('/databases') && new Response('{"reason":"busy"}', {status: 503})
          """)
        try await page.read("refresh(); 0")
        try await page.wait(for: "says('#live', 'The server refuses: busy')", limit: 30)
        try await page.read("fetch = realFetch; 0")
        try await page.wait(for: "says('#live', 'Live')")
        try await page.read(
          """
          globalThis.realSchema = showSchema;
          showSchema = () => { throw new TypeError('odd'); };
          refresh();
          0
          """)
        try await page.wait(for: "says('#live', 'The page failed: odd')", limit: 30)
        try await page.read("showSchema = realSchema; 0")
        try await page.wait(for: "says('#live', 'Live')")

        try await page.hold("/cloudsync/1/schema")
        try await page.read("refresh(); 0")
        try await page.waitForHeldRequest()
        try await page.click("#leave")
        try await page.wait(for: "place('#token')")
        let contents = try await page.text("document.getElementById('contents').textContent")
        #expect(!contents.contains("bread") && !contents.contains("default"))
        try await page.fill("#token", with: world.cloud.controlToken)
        try await page.press("Enter")
        try await page.wait(for: "says('main h2', '1 record') && says('#live', 'Live')")
        try await page.click("tbody th a", "bread")
        try await page.wait(for: "says('#recordView h3', 'bread')")
        // Any token of visible characters is taken from an address as it is.
        let token = try await page.text(
          "(history.replaceState(null, '', '#token=a+b%26c%25d%zz&e'), takeToken(), token)")
        #expect(token == "a+b&c%d%zz&e")
      }
    }

    @Test("The change log grows to as many changes as the server lists, and begins short again")
    func changeLogGrowsToServersLimit() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.answer(
          """
          url.pathname.endsWith('/changes') && url.searchParams.get('latest') <= 10000
            && new Response(JSON.stringify({changes: Array.from(
              {length: url.searchParams.get('latest')}, (_, index) => (
                {sequence: index + 1, recordName: 'bread', recordType: 'Note', deleted: false}))}))
          """)
        try await page.read("refresh(); 0")
        let count = "document.querySelectorAll('#changes li').length"
        for number in [40, 200, 1_000, 5_000] {
          try await page.wait(for: "\(count) === \(number)", limit: 30)
          try await page.click("button", "Show more changes")
        }
        try await page.wait(for: "\(count) === 10000", limit: 30)
        try await page.wait(for: "!place('button', 'Show more changes')")
        #expect(try await page.texts("#wrong").allSatisfy(\.isEmpty))
        try await page.click("tbody th a", "bread")
        try await page.wait(for: "says('#recordView h3', 'bread') && \(count) === 40", limit: 30)
      }
    }
  }
}
