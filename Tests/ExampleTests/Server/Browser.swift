import Foundation
import Testing

/// A headless Chromium that a test drives by clicks and keys, over the DevTools protocol.
///
/// The programs read descriptors 3 and 4, which a shell connects to a named pipe and to its output.
/// With the environment variable `CLOUDSYNC_SCREENSHOTS` screenshots are written to that folder.
final class Browser: Sendable {
  private let tool: RunningTool
  private let input: FileHandle
  private let folder: URL

  /// The programs that it needs; `nil` if one is missing.
  ///
  /// `apt-get install chromium` installs it. Without it a test checks nothing, and says so; with
  /// the environment variable `CI` it fails.
  static var program: String? {
    let found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    if found == nil {
      #expect(ProcessInfo.processInfo.environment["CI"] == nil, "chromium is missing")
      print("Chromium is not installed; nothing was checked")
    }
    return found
  }

  init(_ program: String, in folder: URL) throws {
    self.folder = folder
    let pipe = folder.appendingPathComponent("browser-\(UUID().uuidString)").path
    try #require(mkfifo(pipe, 0o600) == 0)
    // Opened for both, so that opening does not wait for the other side.
    input = try #require(FileHandle(forUpdatingAtPath: pipe))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c",
      """
      "$0" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --disable-background-networking --remote-debugging-pipe --user-data-dir="$2" \
        --window-size=1100,800 about:blank 3<"$1" 4>&1 >/dev/null 2>/dev/null \
        | stdbuf -o0 tr '\\0' '\\n'
      """,
      program, pipe, folder.appendingPathComponent("profile").path,
    ]
    tool = try RunningTool(process)
  }

  /// Sends a command, and returns the members of its result.
  @discardableResult
  func command(
    _ method: String, _ parameters: [String: Any] = [:], page: String? = nil
  ) async throws -> [String: Any] {
    let number = Int.random(in: 1...1_000_000_000)
    var message: [String: Any] = ["id": number, "method": method, "params": parameters]
    message["sessionId"] = page
    try input.write(contentsOf: try JSONSerialization.data(withJSONObject: message) + [0])
    let line = try await tool.output.line { $0.hasPrefix("{\"id\":\(number),") }
    let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    guard let result = answer?["result"] as? [String: Any] else { throw CommandError(line: line) }
    return result
  }

  /// A command failed.
  struct CommandError: Error {
    var line: String
  }

  /// Opens a page.
  func open(_ url: String) async throws -> BrowserPage {
    let page = try await attach(try await command("Target.createTarget", ["url": url])["targetId"])
    try await page.command("Page.enable")
    return page
  }

  /// The page whose address begins with `prefix`, which another page opened.
  func opened(_ prefix: String) async throws -> BrowserPage {
    while true {
      let targets = try await command("Target.getTargets")["targetInfos"] as? [[String: Any]]
      let found = targets?.first { ($0["url"] as? String)?.hasPrefix(prefix) == true }
      if let found { return try await attach(found["targetId"]) }
    }
  }

  private func attach(_ target: Any?) async throws -> BrowserPage {
    let target = try #require(target as? String)
    let answer = try await command("Target.attachToTarget", ["targetId": target, "flatten": true])
    return BrowserPage(browser: self, session: try #require(answer["sessionId"] as? String))
  }

  /// Ends the browser; returns when it has ended.
  func close() async {
    _ = try? await command("Browser.close")
    _ = await tool.exitCode()
  }

  fileprivate func keep(_ picture: Data, _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["CLOUDSYNC_SCREENSHOTS"] else { return }
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try picture.write(to: url.appendingPathComponent(name + ".png"))
  }
}

/// A page of a ``Browser``.
struct BrowserPage: Sendable {
  fileprivate let browser: Browser
  fileprivate let session: String

  @discardableResult
  func command(
    _ method: String, _ parameters: [String: Any] = [:]
  ) async throws -> [String: Any] {
    try await browser.command(method, parameters, page: session)
  }

  /// The value of an expression, which may be a promise.
  func value(_ expression: String) async throws -> Any? {
    let answer = try await command(
      "Runtime.evaluate",
      ["expression": expression, "awaitPromise": true, "returnByValue": true])
    try #require(answer["exceptionDetails"] == nil, "\(expression): \(answer)")
    return (answer["result"] as? [String: Any])?["value"]
  }

  /// Waits until an expression is true.
  func wait(_ expression: String) async throws {
    while true {
      do {
        _ = try await value(
          """
          new Promise((done) => {
            const look = () => { if (\(expression)) done(true); else setTimeout(look, 10); };
            look();
          })
          """)
        return
      } catch let error as Browser.CommandError where error.line.contains("context") {
        // Another page is being loaded.
      }
    }
  }

  /// The text of the element with a selector.
  func text(_ selector: String) async throws -> String {
    try await value("document.querySelector(\(Self.quoted(selector)))?.innerText ?? ''") as? String
      ?? ""
  }

  /// Clicks an element once it is there.
  ///
  /// - Parameter text: the text of the element, if several have the selector.
  func click(_ selector: String, text: String? = nil) async throws {
    let found = """
      [...document.querySelectorAll(\(Self.quoted(selector)))].find((element) =>
        element.getClientRects().length > 0
        && \(text.map { "element.innerText.trim() === \(Self.quoted($0))" } ?? "true"))
      """
    try await wait(found)
    let place =
      try await value(
        """
        (() => {
          const element = \(found);
          element.scrollIntoView({ block: "center" });
          const box = element.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        })()
        """) as? [Double]
    let (x, y) = (try #require(place?.first), try #require(place?.last))
    for type in ["mousePressed", "mouseReleased"] {
      try await command(
        "Input.dispatchMouseEvent",
        ["type": type, "x": x, "y": y, "button": "left", "clickCount": 1])
    }
  }

  /// Types text into the element that has the focus.
  func type(_ text: String) async throws {
    try await command("Input.insertText", ["text": text])
  }

  /// Presses a key, such as `Enter` or `Tab`.
  func press(_ key: String, code: Int) async throws {
    for type in ["keyDown", "keyUp"] {
      try await command(
        "Input.dispatchKeyEvent",
        [
          "type": type, "key": key, "code": key, "windowsVirtualKeyCode": code,
          "text": type == "keyDown" && key == "Enter" ? "\r" : "",
        ])
    }
  }

  /// Writes a screenshot, if screenshots are wanted.
  func screenshot(_ name: String) async throws {
    let answer = try await command("Page.captureScreenshot")
    let picture = (answer["data"] as? String).flatMap { Data(base64Encoded: $0) }
    try browser.keep(try #require(picture), name)
  }

  private static func quoted(_ text: String) -> String {
    let data = try? JSONSerialization.data(withJSONObject: [text])
    return String(decoding: (data ?? Data("[\"\"]".utf8)).dropFirst().dropLast(), as: UTF8.self)
  }
}
