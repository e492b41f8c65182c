import Foundation
import Testing

extension ConsoleSuite {
  /// Works with accounts and shares in the console; see `ConsoleWorld` for what it needs.
  @Suite("Accounts and shares in the console")
  struct ConsolePeopleTests {
    /// Makes a zone with a record, and shares the record.
    private func shareList(in world: ConsoleWorld) async throws {
      let body = #"""
        {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"shop"}}}]}
        """#
      #expect(try await world.cloud.post("zones/modify", Data(body.utf8)).status == 200)
      let page = world.browser
      try await page.click("nav a", "shop")
      try await page.wait(for: "says('main h2', '0 records')")
      try await page.click("button", "New record")
      try await page.fill("input", "Record type", with: "List")
      try await page.fill("input", "Record name", with: "groceries")
      try await page.click("button", "Create")
      try await page.click("button", "Share")
      try await page.wait(for: "place('button', 'Invite')")
    }

    @Test("An account is added, its web token works, and another account accepts a share")
    func accountsAreAddedAndAcceptShares() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.fill("#accountName", with: "bob")
        try await page.press("Enter")
        try await page.wait(for: "place('button', 'Web token of bob')")
        try await page.click("button", "Web token of bob")
        try await page.wait(for: "place('input', 'Token of bob')")
        let token = try await page.text("place('input', 'Token of bob').value")
        let saved = try await world.cloud.post(
          "records/modify",
          Data(
            #"""
            {"operations":[{"operationType":"create",
            "record":{"recordType":"Note","recordName":"bobs"}}]}
            """#.utf8), webAuthToken: token)
        #expect(saved.status == 200 && saved.text.contains("bobs"), "\(saved.text)")
        try await page.wait(for: "says('#tree', 'bob · private')")
        try await page.picture("accounts")

        try await shareList(in: world)
        // An account that was not invited can't accept.
        #expect(try await page.texts(".share button") == ["Invite"])
        try await page.wait(for: "says('.share', 'does not lead to this server')")
        try await page.click("button", "Invite")
        try await page.wait(for: "says('.share li', 'invitation pending')")
        #expect(try await page.texts(".share li").last?.contains("may read and write") == true)
        try await page.picture("share")
        try await page.click("button", "Accept as bob")
        try await page.wait(for: "says('#path', 'bob') && says('#path', 'shared')")
        try await page.wait(for: "says('#recordView h3', 'groceries')")
        try await page.picture("shared")
        // The invitation allows to write: bob changes the record of the other account.
        try await page.click("button", "Edit")
        try await page.fill("input", "New field", with: "done")
        try await page.press("Enter")
        try await page.type("half")
        try await page.click("button", "Save")
        try await page.wait(for: "says('.value', 'half')")
        try await page.click("nav a > span", "default · private")
        try await page.wait(for: "says('#path', 'private')")
        try await page.click("nav a", "shop")
        try await page.wait(for: "says('td', 'half')")
        #expect(try await sharedZones(of: token, world) == ["shop"])

        // Removed, the other account finds nothing any more.
        try await page.click("main a", "groceries")
        try await page.click(".tag a")
        try await page.click("button", "Remove bob")
        try await page.wait(for: "says('dialog', 'Remove bob from the share?')")
        try await page.click("dialog button", "Cancel")
        try await page.wait(for: "!document.querySelector('dialog')")
        #expect(try await sharedZones(of: token, world) == ["shop"])
        try await page.click("button", "Remove bob")
        try await page.click("dialog button", "Remove")
        try await page.wait(for: "!says('.share li', 'bob')")
        #expect(try await sharedZones(of: token, world) == [])
      }
    }

    @Test("A share by link is accepted by any account, and leads to the record that it shares")
    func linkIsAcceptedByAnyAccount() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.fill("#accountName", with: "bob")
        try await page.press("Enter")
        try await page.wait(for: "says('#accountNote', 'The account bob was added.')")
        try await page.fill("#accountName", with: "bob")
        try await page.press("Enter")
        try await page.wait(for: "says('#accountNote', 'The account bob exists already.')")
        try await shareList(in: world)
        #expect(try await page.texts(".share button") == ["Invite"])
        try await page.choose(
          "select", "Permission of everybody", "everybody with the link may read")
        try await page.wait(for: "place('button', 'Accept by the link')")
        try await page.click(".share a", "groceries")
        try await page.wait(for: "says('#recordView h3', 'groceries')")
        try await page.click(".tag a")
        try await page.click("button", "Accept by the link")
        try await page.wait(for: "says('#path', 'bob') && says('#path', 'shared')")
        try await page.wait(for: "says('#recordView h3', 'groceries')")
      }
    }

    @Test("A zone that another account shares is read by its changes, with numbers as they are")
    func sharedZonesAreReadByChanges() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.fill("#accountName", with: "bob")
        try await page.press("Enter")
        try await page.wait(for: "place('button', 'Web token of bob')")
        try await shareList(in: world)
        try await page.click("button", "Invite")
        try await page.click("button", "Accept as bob")
        try await page.wait(for: "says('#path', 'shared') && says('#recordView h3', 'groceries')")
        // A browser that can't tell how a number was written, and what is asked for changes.
        try await page.read(
          """
          globalThis.realParse = JSON.parse;
          JSON.parse = (text, change) =>
            realParse(text, change && ((name, value) => change(name, value)));
          globalThis.tokens = [];
          0
          """)
        try await page.answer(
          """
          (url.pathname.endsWith('/changes/zone')
            && tokens.push(String(JSON.parse(options.body).zones[0].syncToken)), null)
          """)
        let number = "9007199254740993"
        try await saveCount(number, in: world)
        try await page.wait(for: "says('.value', '\(number)')", limit: 30)
        try await page.click("#path a", "all records of the zone")
        try await page.wait(for: "says('td', '\(number)')", limit: 30)
        #expect(try await page.text("tokens[0]") == "undefined")
        // The next event costs the changes since then, not the zone.
        try await saveCount("-\(number)", in: world)
        try await page.wait(for: "says('td', '-\(number)')", limit: 30)
        #expect(try await page.text("tokens.at(-1)") != "undefined")
        #expect(try await page.texts("tbody th a").filter { $0 == "groceries" }.count == 1)
        try await page.choose("select", "Record type", "List")
        try await page.click("#search button", "Find")
        try await page.wait(for: "says('main h2', '1 found') && says('td', '-\(number)')")
        let none = try await page.text("document.getElementById('changes').dataset.none")
        #expect(none == "The change log of a shared zone is in the database of its owner.")
      }
    }

    /// Saves a whole number in the shared record, as another device of its owner.
    private func saveCount(_ number: String, in world: ConsoleWorld) async throws {
      let body = #"""
        {"zoneID":{"zoneName":"shop"},"operations":[{"operationType":"forceUpdate","record":{
        "recordType":"List","recordName":"groceries","fields":{"count":{"value":\#(number)}}}}]}
        """#
      let answer = try await world.cloud.post("records/modify", Data(body.utf8))
      #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
    }

    @Test("A refused acceptance is no success in the activity, and keys are shown by their names")
    func refusalsAndKeysAreNamed() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        let accept = Data(#"{"shortGUIDs":[{"value":"0000000000000000000000"}]}"#.utf8)
        let answer = try await world.cloud.post("records/accept", accept, database: "public")
        #expect(answer.text.contains("serverErrorCode"), "\(answer.text)")
        try await page.choose("#feedKind", nil, "failures")
        try await page.wait(for: "says('#feed .bad', '1 of 1 refused: ')")
        try await page.picture("refused")
        try await page.click("#feed summary")
        let parts = try await page.texts("#feed dl > div")
        #expect(parts.contains { $0.hasPrefix("outcome\n1 of 1 refused: ") }, "\(parts)")
        let shown = try await page.text(
          """
          (state.keys = [{keyID: 'f00', name: 'importer', userRecordName: '_k'}],
            [accountLabel('server-key-f00'), userLabel('_k'), accountLabel('server-key-0123456789'),
              accountLabel('ann')].join())
          """)
        #expect(shown == "key “importer”,key “importer”,key “01234567…”,ann")
      }
    }

    /// The names of the zones that others share with an account.
    private func sharedZones(of token: String, _ world: ConsoleWorld) async throws -> [String] {
      let answer = try await world.cloud.post(
        "zones/list", Data("{}".utf8), database: "shared", webAuthToken: token)
      let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
      let zones = try #require(
        (object as? [String: Any])?["zones"] as? [[String: Any]], "\(answer.text)")
      return zones.compactMap { ($0["zoneID"] as? [String: Any])?["zoneName"] as? String }
    }

    @Test("A copied web token is on the clipboard")
    func copiedTokenIsOnClipboard() async throws {
      try await ConsoleWorld.run { world in
        let page = world.browser
        try await page.send(
          "Browser.grantPermissions",
          ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]], toPage: false)
        try await page.send("Page.bringToFront")
        try await page.click("button", "Web token of default")
        try await page.wait(for: "place('input', 'Token of default')")
        let token = try await page.text("place('input', 'Token of default').value")
        try await page.click("button", "Copy")
        try await page.wait(for: "place('button', 'Copied')")
        #expect(try await page.text("navigator.clipboard.readText()") == token)
      }
    }

    @Test("The account that one acts as writes into the public database, also after a reload")
    func actingAccountWritesPublicRecords() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        try await page.fill("#accountName", with: "zoe")
        try await page.press("Enter")
        try await page.wait(for: "place('button', 'Web token of zoe')")
        try await page.choose("#acting", nil, "zoe")
        try await page.reload()
        try await page.wait(for: "document.getElementById('acting')?.value === 'zoe'")
        try await page.read(
          "location.hash = 'container=iCloud.test&scope=public&zone=_defaultZone'")
        try await page.wait(for: "says('#path', 'public')")
        try await page.click("button", "New record")
        try await page.wait(for: "says('form', 'as zoe')")
        try await page.fill("input", "Record type", with: "Place")
        try await page.fill("input", "Record name", with: "market")
        // The form saves as the account that it names.
        try await page.choose("#acting", nil, "default")
        try await page.wait(for: "says('#subscriptionsTitle', 'Subscriptions of default')")
        try await page.click("button", "Create")
        try await page.wait(for: "says('#recordView h3', 'market')")
        try await page.wait(for: "says('.meta', 'by zoe') && !says('.meta', 'by default')")
        try await page.wait(for: "says('#tree', 'public')")
      }
    }
  }
}
