import Synchronization
import Testing

@testable import CommandLineKit

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

  @Test("Progress on bytes has the rate, and the time that is left if it is known how much is done")
  func progressOnBytesHasRateAndTimeLeft() {
    let now = Mutex(Duration.seconds(100))
    let output = Output(isJSON: true)
    func line(of total: Int?, _ steps: [(at: Int, bytes: Int, fraction: Double?)]) -> [String?] {
      now.withLock { $0 = .seconds(100) }
      var progress = ByteProgress("sent", of: total, output) { now.withLock { $0 } }
      return steps.map { step in
        now.withLock { $0 = .seconds(100) + .milliseconds(step.at) }
        return progress.counted(step.bytes, fraction: step.fraction)
      }
    }
    #expect(
      line(of: 4_000, [(1_000, 900, nil), (2_000, 100, nil), (2_050, 1, nil), (2_200, 1_199, nil)])
        == [
          nil, "sent 1.0 kB of 4.0 kB · 500 B/s · 6 s left", nil,
          "sent 2.2 kB of 4.0 kB · 999 B/s · 2 s left",
        ])
    #expect(line(of: nil, [(4_000, 400, nil)]) == ["sent 400 B · 100 B/s"])
    #expect(line(of: nil, [(4_000, 400, 0.25)]) == ["sent 400 B · 100 B/s · 12 s left"])
    // The end is no time that is left.
    #expect(line(of: 400, [(4_000, 400, nil)]) == ["sent 400 B of 400 B · 100 B/s"])
  }
}
