import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport

extension DemoAct {
  /// A history of copied lines, which grows on both sides of a lost network.
  static let clipboard = DemoAct { stage in
    try await stage.copy()
  } addItem: { name, device in
    let entry = ClipboardEntry(id: UUID(), text: name, timestamp: Date())
    try device.app(ItsypadApp.self).clipboard.add(entry)
  }
}

extension DemoStage {
  fileprivate mutating func copy() async throws {
    begin("clipboard: a history, which grows on both devices without a network")
    let (phone, desk) = (try await phone(), try await desk())
    let (onPhone, onDesk) = (try phone.app(ItsypadApp.self), try desk.app(ItsypadApp.self))
    let start = Date().addingTimeInterval(-Double(input.copied.count))
    try onPhone.clipboard.add(
      input.copied.enumerated().map {
        ClipboardEntry(id: UUID(), text: $1, timestamp: start.addingTimeInterval(Double($0)))
      })
    tell("\(count(input.copied.count, "clipboard entry")), lines of \(input.origin)")
    for device in [phone, desk] {
      try await sync(ItsypadApp.self, on: device) {
        "the \(device.name) has \(count($0.clipboard.entries.count, "entry"))"
      }
    }
    try await offline([phone, desk]) {
      for (app, name) in [(onPhone, "phone"), (onDesk, "desk")] {
        let text = "copied on the \(name), far from any network"
        try app.clipboard.add(ClipboardEntry(id: UUID(), text: text, timestamp: Date()))
      }
      guard let oldest = onDesk.clipboard.entries.last else { return }
      try onDesk.clipboard.delete(oldest.id)
    }
    tell("without a network, each copies a line, and the desk deletes the oldest")
    try await settle(ItsypadApp.self, [phone, desk])
    let expected = input.copied.count + 1
    check(onDesk.clipboard.entries.count == expected, "the desk has \(expected) entries")
    tell("then both have \(count(onPhone.clipboard.entries.count, "entry")), newest first")
    try compare(ItsypadApp.self, phone, desk)
  }
}
