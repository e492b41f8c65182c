import Foundation
import Testing

extension ConsoleSuite {
  /// Looks for records in the console; see `ConsoleWorld` for what it needs.
  @Suite("Queries and links in the console")
  struct ConsoleQueryTests {
    /// Three records; one refers to another.
    private static let records = Data(
      #"""
      {"operations":[
      {"operationType":"create","record":{"recordType":"Order","recordName":"a","fields":{
      "title":{"value":"Mint"},"count":{"value":3},"due":{"type":"TIMESTAMP","value":0}}}},
      {"operationType":"create","record":{"recordType":"Order","recordName":"b","fields":{
      "title":{"value":"Milk"},"count":{"value":12},
      "after":{"value":{"recordName":"a","action":"NONE"}}}}},
      {"operationType":"create","record":{"recordType":"Order","recordName":"c","fields":{
      "title":{"value":"Apple"},"count":{"value":1},"tags":{"value":["red","green"]}}}}]}
      """#.utf8)

    private static func run(_ body: @escaping @Sendable (ConsoleWorld) async throws -> Void)
      async throws
    {
      try await ConsoleWorld.run(["bread"]) { world in
        let answer = try await world.cloud.post("records/modify", records)
        try #require(answer.status == 200, "\(answer.text)")
        try await world.browser.wait(for: "says('main h2', '4 records')")
        try await body(world)
      }
    }

    @Test("A query needs no type while the server has records of a single one")
    func queryOfSingleTypeNeedsNoChoice() async throws {
      try await ConsoleWorld.run(["bread", "milk"]) { world in
        let page = world.browser
        try await page.wait(for: "says('main h2', '2 records')")
        try await page.fill("#where", with: #"recordID = "bread""#)
        try await page.press("Enter")
        try await page.wait(for: "says('main h2', '1 found')")
        #expect(try await page.texts("tbody th a") == ["bread"])
        // Until the first answers, empty lists say that they are loading.
        #expect(
          try await page.text("String(document.getElementById('contents').dataset.loading)")
            == "undefined")
      }
    }

    @Test("A large zone shows the latest records, then more, and by name once all are there")
    func largeZoneShowsMoreOnRequest() async throws {
      try await ConsoleWorld.run(["bread"]) { world in
        let page = world.browser
        let zone = Data(
          #"""
          {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"large"}}}]}
          """#.utf8)
        #expect(try await world.cloud.post("zones/modify", zone).status == 200)
        for start in [0, 200, 400] {
          let operations = (start..<min(start + 200, 450)).map { number -> String in
            let name = "r\(String(number + 1000).dropFirst())"
            return #"""
              {"operationType":"create","record":{"recordType":"Note","recordName":"\#(name)"}}
              """#
          }
          let body =
            #"{"zoneID":{"zoneName":"large"},"operations":["#
            + operations.joined(separator: ",") + "]}"
          #expect(try await world.cloud.post("records/modify", Data(body.utf8)).status == 200)
        }
        let names = "[...document.querySelectorAll('tbody th a')].map(one => one.innerText)"
        try await page.click("nav a", "large")
        try await page.wait(for: "says('main h2', 'the latest 200 of 450 records')")
        let first = "\(names).length === 200 && \(names)[0] === 'r449'"
        try await page.wait(for: first)
        try await page.picture("large-zone")
        // A heading sorts what is loaded, and says so; a query sorts all.
        try await page.click("thead button", "Record")
        try await page.wait(
          for: "says('.table .warn', 'sorted among the 200 loaded records')"
            + " && \(names)[0] === 'r250'")
        try await page.picture("sorted-part")
        try await page.click("button", "Sort all by a query")
        try await page.wait(for: "\(names)[0] === 'r000' && !place('.table .warn')")
        #expect(try await page.texts("#count") == ["the first 200 found"])
        try await page.click("nav a", "large")
        try await page.wait(for: first)
        try await page.click("button", "Show more")
        try await page.wait(for: "says('main h2', 'the latest 400 of 450 records')")
        try await page.wait(for: "\(names).length === 400 && \(names)[399] === 'r050'")
        try await page.click("button", "Show more")
        try await page.wait(for: "says('main h2', '450 records')")
        try await page.wait(for: "\(names)[0] === 'r000' && \(names)[449] === 'r449'")
        #expect(try await page.read("place('button', 'Show more') === undefined") as? Bool == true)
        // Another record gets in while all are shown.
        let late = #"""
          {"zoneID":{"zoneName":"large"},"operations":[{"operationType":"create",
          "record":{"recordType":"Note","recordName":"q"}}]}
          """#
        #expect(try await world.cloud.post("records/modify", Data(late.utf8)).status == 200)
        try await page.wait(for: "says('main h2', '451 records') && \(names)[0] === 'q'")
      }
    }

    /// Proves X10.
    @Test("A predicate finds records, and what is wrong with it is said in the server's words")
    func predicatesFindRecordsOrExplainErrors() async throws {
      try await Self.run { world in
        let page = world.browser
        try await page.choose("select", "Record type", "Order")
        let queries: [(predicate: String, found: [String])] = [
          (#"title BEGINSWITH "M" AND count > 2"#, ["a", "b"]),
          ("NOT (title BEGINSWITH 'M')", ["c"]), ("count IN {1, 12}", ["b", "c"]),
          (#""red" IN tags"#, ["c"]), (#"tags CONTAINS "green""#, ["c"]),
          (#"after = "a""#, ["b"]), (#"due <= "1970-01-01T00:00:00Z""#, ["a"]),
          (#"self CONTAINS "mint""#, ["a"]), (#"recordID = reference("b")"#, ["b"]),
          ("count == 4", []), ("", ["a", "b", "c"]),
        ]
        for (predicate, found) in queries {
          try await page.fill("#where", with: predicate)
          try await page.press("Enter")
          let names = "[...document.querySelectorAll('tbody th a')].map(one => one.innerText)"
          try await page.wait(
            for: "says('main h2', '\(found.count) found')"
              + " && \(names).sort().join('') === '\(found.joined())'")
          if predicate.contains("AND") { try await page.picture("query") }
        }
        for (predicate, words) in [
          ("count > > 2", "Expected a value at column 9."),
          ("count >", "Expected a value at the end."),
          ("count > 2 title", "Expected AND at column 11."),
          ("count ; 2", "Unreadable at column 7."),
          (#"count BEGINSWITH "1""#, "BAD_REQUEST"), (#"1x = 2"#, "Expected IN at column 2."),
        ] {
          try await page.fill("#where", with: predicate)
          try await page.press("Enter")
          try await page.wait(for: "says('#wrong', \(Browser.quoted(words)))")
          #expect(try await page.texts("#wrong").first?.contains("undefined") == false)
        }
        try await page.picture("query-wrong")
        // The address is enough to see the same again.
        try await page.fill("#where", with: "count < 4")
        try await page.press("Enter")
        try await page.wait(for: "says('main h2', '2 found')")
        try await page.reload()
        try await page.wait(for: "says('main h2', '2 found')")
        #expect(try await page.text("document.getElementById('where').value") == "count < 4")
      }
    }

    @Test("Records are sorted by a column, and the chosen columns stay after a reload")
    func recordsAreSortedAndColumnsStay() async throws {
      try await Self.run { world in
        let page = world.browser
        func names(_ expected: String) async throws {
          try await page.wait(
            for: "[...document.querySelectorAll('section.table')].find(one => one.innerText"
              + ".startsWith('Order')).querySelector('tbody').innerText.match(/^\\w/gm).join('')"
              + " === '\(expected)'")
        }
        try await names("abc")
        for (column, expected) in [("count", "cab"), ("count ▲", "bac"), ("count ▼", "abc")] {
          try await page.click(".table:nth-child(2) thead button", column)
          try await names(expected)
        }
        try await page.click(".table:nth-child(2) summary", "Columns")
        try await page.click(".table:nth-child(2) label", "count")
        try await page.wait(for: "!place('.table:nth-child(2) thead button', 'count')")
        try await page.picture("columns")
        try await page.reload()
        try await page.wait(for: "place('.table:nth-child(2) thead button', 'title')")
        #expect(try await page.read("Boolean(place('thead button', 'count'))") as? Bool == false)
      }
    }

    /// Proves X10.
    @Test("A record is reached by its name, a reference is followed, and the way back leads there")
    func referencesAreFollowedAndBack() async throws {
      try await Self.run { world in
        let page = world.browser
        try await page.fill("#recordName", with: "b")
        try await page.press("Enter")
        try await page.wait(for: "says('#recordView h3', 'b')")
        try await page.click("dd a", "a")
        try await page.wait(for: "says('#recordView h3', 'a')")
        try await page.read("history.back()")
        try await page.wait(for: "says('#recordView h3', 'b')")
        try await page.reload()
        try await page.wait(for: "says('#recordView h3', 'b')")
        try await page.click("a", "all records of the zone")
        try await page.wait(for: "says('main h2', '4 records')")
        try await page.fill("#recordName", with: "nobody")
        try await page.press("Enter")
        try await page.wait(
          for: "document.getElementById('recordView').dataset.none.includes('nobody')"
            + " && !document.querySelector('.record')")
      }
    }
  }
}
