import Foundation
import Testing

extension ConsoleSuite {
  /// Looks at the console on other screens; see `ConsoleWorld` for what it needs.
  @Suite("The console on other screens")
  struct ConsoleLayoutTests {
    /// Names that are short, long, or look like markup.
    private static let names = ["a", String(repeating: "long", count: 50), "<b>bold</b>"]
    /// A text from right to left with a mark that would turn around what stands behind it.
    private static let title = "שלום, עולם \u{202E}" + String(repeating: "abc", count: 30)

    private static func checkWidth(_ page: Browser, _ what: String) async throws {
      let width = try await page.read("document.documentElement.scrollWidth") as? Int
      #expect(width == 390, "\(what) is \(width ?? 0) wide")
    }

    @Test("On a phone nothing is wider than the screen, in light and dark")
    func phoneNeedsNoHorizontalScrolling() async throws {
      try await ConsoleWorld.run(Self.names) { world in
        let page = world.browser
        try await page.resize((390, 844))
        #expect(
          try await world.cloud.save("a", operation: "forceUpdate", title: Self.title) == 200)
        try await page.wait(for: "says('td', 'abcabc')")
        try await Self.checkWidth(page, "the zone")
        try await page.picture("phone")
        for name in Self.names {
          try await page.click("tbody th a", name)
          try await page.wait(for: "place('#recordView h3')")
          try await Self.checkWidth(page, "a record")
          try await page.click("button", "Edit")
          try await page.wait(for: "place('form .edited')")
          try await Self.checkWidth(page, "the form")
          try await page.click("button", "Cancel")
          try await page.click("a", "all records of the zone")
        }
        try await page.wait(for: "says('main h2', '3 records')")
        let light = try await page.text("getComputedStyle(document.body).backgroundColor")
        try await page.setDark(true)
        try await page.wait(for: "getComputedStyle(document.body).backgroundColor !== '\(light)'")
        try await page.picture("phone-dark")
        try await page.resize((1280, 900))
        try await page.picture("dark")
      }
    }

    @Test("Texts with control characters, outer spaces and great length stay apart and readable")
    func hostileTextsStayReadable() async throws {
      let names = [" spaced ", String(repeating: "n", count: 255)]
      try await ConsoleWorld.run([]) { world in
        let page = world.browser
        for name in names {
          #expect(try await world.cloud.save(name, title: "x\u{202E}\u{7}y") == 200)
        }
        try await page.wait(for: "says('main h2', '2 records')")
        #expect(try await page.texts("tbody th a") == ["␣spaced␣", names[1]])
        try await page.wait(for: "says('td', 'xU+202EU+0007y')")
        try await page.picture("hostile-texts")
        // The long name leaves room for the other columns.
        let width = try await page.read(
          "Math.max(...[...document.querySelectorAll('tbody th a')].map(one => one.offsetWidth))")
        #expect((1...260).contains(width as? Int ?? 0), "\(width ?? 0)")
        let other = try await page.read(
          "document.querySelector('tbody td:nth-child(2)').offsetWidth")
        #expect((other as? Int ?? 0) > 100, "\(other ?? 0)")
        // A name is used as it is typed.
        try await page.fill("#recordName", with: " spaced ")
        try await page.press("Enter")
        try await page.wait(for: "says('#recordView h3', '␣spaced␣')")
        // The sign before the link is no part of it.
        let signs = "getComputedStyle(document.querySelector('#path a'), '::before').content"
        #expect(try await page.text(signs) == "none")
      }
    }

    @Test("Every control is reached with the tabulator in the order of the page")
    func controlsAreReachedByKeyboard() async throws {
      try await ConsoleWorld.run(Self.names) { world in
        let page = world.browser
        try await page.wait(for: "says('main h2', '3 records')")
        try await page.read(
          """
          globalThis.controls = new Set([...document.querySelectorAll(
            'a, button, input, select, summary, textarea, [tabindex="0"]')]
            .filter(one => one.checkVisibility() && !one.disabled));
          globalThis.steps = [];
          document.addEventListener('focusin', ({target}) => {
            steps.push(target);
            controls.delete(target);
          });
          0
          """)
        // Behind the last control the page itself has the focus.
        repeat {
          try await page.press("Tab")
        } while try await page.read(
          "document.activeElement !== document.body") as? Bool == true
        let missed = try await page.text(
          "[...controls].filter(one => !one.disabled).map(one => one.outerHTML).join()")
        #expect(missed == "")
        let isInOrder = try await page.read(
          """
          steps.length > 30 && steps.every((one, index) => !index
            || steps[index - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING
            || steps[index - 1].contains(one))
          """)
        #expect(isInOrder as? Bool == true)
        try await page.press("Tab")
        let outline = try await page.text("getComputedStyle(document.activeElement).outlineStyle")
        #expect(outline == "solid")
        // A record is opened, changed and saved with keys alone.
        try await page.read("document.querySelector('tbody th a').focus()")
        try await page.press("Enter")
        try await page.wait(for: "place('button', 'Edit')")
        try await page.read("place('button', 'Edit').focus()")
        try await page.press("Enter")
        try await page.wait(for: "document.activeElement.ariaLabel === 'title'")
        try await page.type("Oat ")
        try await page.press("Enter")
        try await page.wait(for: "says('.value', 'Oat')")
      }
    }
  }
}
