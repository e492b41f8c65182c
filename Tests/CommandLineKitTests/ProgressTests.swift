import CommandLineKit
import Synchronization
import Testing

@Suite("Progress on a terminal")
struct ProgressTests {
  @Test("The progress line fits its width by dropping first the bar, then the rate, then the noun")
  func progressLineDropsBarThenRate() {
    let known = ProgressLine("sent", "change", done: 250, of: 1_000)
    let open = ProgressLine("received", "entry", done: 1)
    let cases: [(ProgressLine, Double?, Int, String)] = [
      (known, 82.4, 60, "███████░░░░░░░░░░░░░░░░░░░░░ sent 250 of 1000 changes · 82/s"),
      (known, 82.4, 34, "sent 250 of 1000 changes · 82/s"),
      (known, 82.4, 26, "sent 250 of 1000 changes"),
      (known, nil, 33, "██░░░░░░ sent 250 of 1000 changes"),
      (known, 82.4, 20, "sent 250/1000"), (known, 82.4, 8, "250/1000"), (known, 82.4, 5, "250/…"),
      (open, 3, 60, "received 1 entry · 3/s"), (open, nil, 10, "received 1"), (open, nil, 3, "1"),
      (ProgressLine("syncing", "item", done: nil), nil, 60, "syncing …"),
      (ProgressLine("reading", "file", done: 0, of: 0), nil, 60, "reading 0 of 0 files"),
    ]
    for (line, rate, width, expected) in cases {
      let text = line.text(rate: rate, width: width)
      #expect(text == expected, "\(width)")
      #expect(text.displayWidth <= width, "\(width): \(text)")
    }
    let full = ProgressLine("sent", "change", done: 9, of: 9).text(rate: nil, width: 70)
    #expect(full.hasPrefix(String(repeating: "█", count: 40) + " sent 9 of 9"), "\(full)")
  }

  /// Proves X4.
  @Test("A bar appears after a delay, updates at most ten times a second and is cleared at the end")
  func progressBarAppearsAfterDelayAndClears() {
    let now = Mutex(Duration.zero)
    let drawn = Mutex<[String]>([])
    let bar = ProgressBar(width: 60, elapsed: { now.withLock { $0 } }) { text in
      drawn.withLock { $0.append(text) }
    }
    for step in 0...1_000 {
      now.withLock { $0 = .milliseconds(step) }
      bar.show(ProgressLine("sent", "change", done: step, of: 1_000))
    }
    bar.end()
    bar.show(ProgressLine("sent", "change", done: 1_000, of: 1_000))
    bar.end()
    let texts = drawn.withLock { $0 }
    #expect(texts.count == 9, "at 300, 400 ... 1000 ms, and what clears it")
    #expect(texts.allSatisfy { $0.hasPrefix("\r\u{1B}[K") } && texts.last == "\r\u{1B}[K")
    #expect(texts[0].hasSuffix(" sent 300 of 1000 changes"), "no rate yet: \(texts[0])")
    #expect(texts[7].hasSuffix(" sent 1000 of 1000 changes · 1000/s"), "\(texts[7])")

    let quick = ProgressBar(width: 60, elapsed: { .milliseconds(200) }) { text in
      drawn.withLock { $0.append(text) }
    }
    quick.show(ProgressLine("sent", "change", done: 1))
    quick.end()
    #expect(drawn.withLock { $0.count } == texts.count, "what takes no time leaves no mark")
  }
}
