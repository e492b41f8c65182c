import Foundation
import Testing
import VerificationSupport

/// Chromium without a window, driven over the pipe of its DevTools protocol.
///
/// Pages get real mouse and key events; scripts of the tests only find places and read. Every wait
/// is for a condition in the page. Screenshots are written to the folder named by the environment
/// variable `CLOUDSYNC_SCREENSHOTS`, if it is set.
final class Browser {
  private let process: RunningTool
  private let input = Pipe()
  private let folder: URL
  private var session = ""
  private var lastNumber = 0

  /// Starts a browser with one empty page.
  ///
  /// - Parameter size: The width and height of the page, in CSS pixels.
  init(_ program: URL, folder: URL, size: (Int, Int) = (1280, 900)) async throws {
    self.folder = folder.appendingPathComponent("browser-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    var shell = ToolProcess(program: URL(fileURLWithPath: "/bin/sh"))
    // The protocol is on the descriptors 3 and 4, which only a shell hands over.
    shell.arguments = [
      "-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2", "sh", program.path, "--headless=new",
      "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--hide-scrollbars", "--disable-extensions", "--disable-background-networking",
      "--remote-debugging-pipe",
      "--user-data-dir=\(self.folder.path)", "--window-size=\(size.0),\(size.1)",
    ]
    process = try RunningTool(shell, input: input, end: 0)
    let target = try await send("Target.createTarget", ["url": "about:blank"])
    try await attach(target["targetId"])
    try await resize(size)
  }

  deinit { process.send(SIGKILL) }

  private func attach(_ target: Any?) async throws {
    let id = try #require(target as? String)
    let attached = try await send(
      "Target.attachToTarget", ["targetId": id, "flatten": true], toPage: false)
    session = try #require(attached["sessionId"] as? String)
  }

  /// Goes on with the page whose address begins with `prefix`, once a page has opened it.
  ///
  /// - Parameter again: what opens the page; it is done again now and then, in case it had no
  ///   effect.
  func turn(toPage prefix: String, again: () async throws -> Void = {}) async throws {
    for attempt in 1... {
      if attempt.isMultiple(of: 1_000) { try await again() }
      let answer = try await send("Target.getTargets", toPage: false)
      let targets = answer["targetInfos"] as? [[String: Any]]
      let found = targets?.first { ($0["url"] as? String)?.hasPrefix(prefix) == true }
      guard let found else { continue }
      try await attach(found["targetId"])
      try await send("Page.bringToFront")
      return
    }
  }

  /// Ends the browser, and waits until it is gone.
  func close() async throws {
    try await send("Browser.close", toPage: false)
    _ = await process.exitCode()
  }

  /// Sends a command to the page, or to the browser, and returns its result.
  @discardableResult
  func send(
    _ method: String, _ parameters: [String: Any] = [:], toPage: Bool = true
  ) async throws -> [String: Any] {
    lastNumber += 1
    var message: [String: Any] = ["id": lastNumber, "method": method, "params": parameters]
    if toPage, !session.isEmpty { message["sessionId"] = session }
    var bytes = try JSONSerialization.data(withJSONObject: message)
    bytes.append(0)
    try input.fileHandleForWriting.write(contentsOf: bytes)
    let prefix = "{\"id\":\(lastNumber),"
    let answer = try await process.output.line { $0.hasPrefix(prefix) }
    let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
    if let error = object?["error"] { throw BrowserError("\(method): \(error)") }
    return object?["result"] as? [String: Any] ?? [:]
  }

  /// Changes the size of the page, as of another screen.
  func resize(_ size: (Int, Int)) async throws {
    try await send(
      "Emulation.setDeviceMetricsOverride",
      ["width": size.0, "height": size.1, "deviceScaleFactor": 1, "mobile": false])
  }

  /// Changes what the page is told about the wish for dark colors.
  func setDark(_ isDark: Bool) async throws {
    let feature = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
    try await send("Emulation.setEmulatedMedia", ["features": [feature]])
  }

  /// Opens a page.
  func open(_ url: String) async throws { try await send("Page.navigate", ["url": url]) }

  /// Loads the page again, and returns when the old one is gone.
  func reload() async throws {
    try await read("globalThis.isOld = true")
    try await send("Page.reload")
    try await wait(for: "globalThis.isOld === undefined")
  }

  /// The value of an expression in the page, which may be a promise.
  @discardableResult
  func read(_ expression: String) async throws -> Any? {
    let answer = try await send(
      "Runtime.evaluate",
      [
        "expression": Self.helpers + expression, "awaitPromise": true, "returnByValue": true,
      ])
    if let details = answer["exceptionDetails"] as? [String: Any] {
      let exception = details["exception"] as? [String: Any]
      let words = exception?["description"] ?? exception?["value"] ?? details["text"]
      throw BrowserError("\(expression): \(words ?? "")")
    }
    return (answer["result"] as? [String: Any])?["value"]
  }

  /// The text of an expression in the page.
  func text(_ expression: String) async throws -> String {
    try #require(try await read(expression) as? String, "\(expression)")
  }

  /// The visible texts of all elements that a selector finds.
  func texts(_ selector: String) async throws -> [String] {
    let all = "document.querySelectorAll(\(Self.quoted(selector)))"
    let json = try await text(
      """
      JSON.stringify([...\(all)].filter(one => one.checkVisibility()
        || getComputedStyle(one).display === 'contents').map(one => one.innerText))
      """)
    return try JSONDecoder().decode([String].self, from: Data(json.utf8))
  }

  /// Waits until an expression is true in the page, looking with each frame that it draws.
  ///
  /// The limit only ends a test that failed, with the text of the page.
  func wait(for condition: String, limit: Int = 120) async throws {
    do {
      try await look(for: condition, limit)
    } catch let error as BrowserError
      where error.isOfOldPage
    {
      // Another page was loaded meanwhile.
      try await wait(for: condition, limit: limit)
    }
  }

  private func look(for condition: String, _ limit: Int) async throws {
    try await read(
      """
      new Promise((done, fail) => {
        const end = performance.now() + \(limit) * 1000;
        const look = () => {
          let is = false;
          try { is = \(condition); } catch (error) { return fail(error); }
          if (is) done(true);
          else if (performance.now() > end) fail(document.body.innerText);
          else requestAnimationFrame(look);
        };
        look();
      })
      """)
  }

  /// Looks for the places that a user could point at.
  private static let helpers = """
    globalThis.place = (selector, label) => [...document.querySelectorAll(selector)].find(one =>
      one.checkVisibility({visibilityProperty: true}) && (label === undefined
        || one.getAttribute('aria-label') === label || one.innerText.trim() === label));
    globalThis.says = (selector, text) => [...document.querySelectorAll(selector)].some(one =>
      one.checkVisibility() && one.innerText.includes(text));

    """

  /// The form of an element, with its label or its whole text, in a script.
  private static func place(_ selector: String, _ label: String?) -> String {
    let words = [selector, label].compactMap(\.self).map(quoted).joined(separator: ", ")
    return "place(\(words))"
  }

  /// A text as a script says it.
  static func quoted(_ text: String) -> String {
    let json = try? JSONSerialization.data(withJSONObject: [text])
    return String(decoding: json ?? Data("['']".utf8), as: UTF8.self).dropFirst().dropLast()
      .description
  }

  /// Waits until an element is visible, and clicks in its middle, where nothing may cover it.
  ///
  /// A page that is refreshed meanwhile may move or replace the element; then it is clicked again.
  func click(_ selector: String, _ label: String? = nil) async throws {
    let place = Self.place(selector, label)
    for _ in 0..<10 {
      try await wait(for: place)
      // A page that has not been drawn yet gets no clicks.
      try await read(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
      guard let spot = try await spot(of: place) else { continue }
      for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
        try await send(
          "Input.dispatchMouseEvent",
          [
            "type": kind, "x": spot["x"] ?? 0, "y": spot["y"] ?? 0,
            "button": kind == "mouseMoved" ? "none" : "left", "clickCount": 1,
          ])
      }
      if try await wasClicked() { return }
    }
    throw BrowserError("\(place) is covered, or does not stay where it is")
  }

  /// Whether the last click reached its element; it did if it loaded or closed the page.
  private func wasClicked() async throws -> Bool {
    do {
      return try await read("globalThis.wasClicked !== false") as? Bool == true
    } catch let error as BrowserError
      where error.isOfOldPage || error.description.contains("Session with given id not found")
    {
      return true
    }
  }

  /// Where to click an element, whose next click is noted; `nil` if it is covered or gone.
  private func spot(of place: String) async throws -> [String: Any]? {
    try await read(
      """
      (() => {
        const one = \(place);
        if (!one) return null;
        one.scrollIntoView({block: 'center', inline: 'center'});
        const [box] = one.getClientRects();
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        if (!one.contains(document.elementFromPoint(x, y))) return null;
        globalThis.wasClicked = false;
        document.addEventListener('click', event => {
          const now = \(place);
          globalThis.wasClicked = Boolean(now && now.contains(event.target));
        }, {once: true, capture: true});
        return {x, y};
      })()
      """) as? [String: Any]
  }

  /// Types text into the element that has the focus.
  func type(_ text: String) async throws {
    for character in text {
      try await press(character == "\n" ? "Enter" : String(character))
    }
  }

  /// Clicks a field, and types in place of its content.
  func fill(_ selector: String, _ label: String? = nil, with text: String) async throws {
    try await click(selector, label)
    try await press("a", modifiers: 2, commands: ["selectAll"])
    try await press("Backspace")
    try await type(text)
  }

  /// Chooses an entry of a list with the arrow keys.
  ///
  /// Typing its beginning is no choice: letters that come slowly each begin a new word.
  func choose(_ selector: String, _ label: String? = nil, _ entry: String) async throws {
    let place = Self.place(selector, label)
    try await wait(for: place)
    try await read("\(place).focus()")
    let wanted = "option.text.startsWith(\(Self.quoted(entry)))"
    try await wait(for: "[...\(place).options].some(option => \(wanted))")
    let steps =
      try await read(
        "[...\(place).options].findIndex(option => \(wanted)) - \(place).selectedIndex") as? Int
    let count = try #require(steps)
    for _ in 0..<abs(count) { try await press(count > 0 ? "ArrowDown" : "ArrowUp") }
    try await wait(for: "\(place).selectedOptions[0].text.startsWith(\(Self.quoted(entry)))")
  }

  private static let keyCodes = [
    "Enter": 13, "Tab": 9, "Backspace": 8, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, " ": 32,
  ]

  /// Presses a key and releases it.
  ///
  /// - Parameter modifiers: 1 for Alt, 2 for Control, 8 for Shift, added up.
  func press(_ key: String, modifiers: Int = 0, commands: [String] = []) async throws {
    var event: [String: Any] = ["key": key, "modifiers": modifiers, "commands": commands]
    let text = key == "Enter" ? "\r" : key.count == 1 ? key : ""
    if modifiers & 3 == 0, !text.isEmpty { event["text"] = text }
    if let code = Self.keyCodes[key] { event["windowsVirtualKeyCode"] = code }
    event["type"] = "keyDown"
    try await send("Input.dispatchKeyEvent", event)
    event["type"] = "keyUp"
    event["text"] = nil
    event["commands"] = nil
    try await send("Input.dispatchKeyEvent", event)
  }

  /// Hands a file to a file field, as its window would.
  func attach(_ path: String, to selector: String, _ label: String? = nil) async throws {
    let expression = Self.helpers + Self.place(selector, label)
    let answer = try await send("Runtime.evaluate", ["expression": expression])
    let object = try #require((answer["result"] as? [String: Any])?["objectId"] as? String)
    try await send("DOM.setFileInputFiles", ["files": [path], "objectId": object])
  }

  /// Writes a picture of the whole page, if a folder for pictures is named.
  func picture(_ name: String) async throws {
    guard let folder = ProcessInfo.processInfo.environment["CLOUDSYNC_SCREENSHOTS"] else { return }
    let answer = try await send("Page.captureScreenshot", ["captureBeyondViewport": true])
    let data = try #require((answer["data"] as? String).flatMap { Data(base64Encoded: $0) })
    let place = URL(fileURLWithPath: folder)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try data.write(to: place.appendingPathComponent("\(name).png"))
  }
}

/// A page or the browser did not do what a test asked for.
struct BrowserError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }

  /// Whether another page was loaded in place of the one that was asked.
  var isOfOldPage: Bool {
    ["context was destroyed", "target navigated"].contains(where: description.contains)
  }
}
