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
    let (phone, desk) = try await both(ItsypadApp.self)
    let (onPhone, onDesk) = (phone.app.clipboard, desk.app.clipboard)
    let start = Date().addingTimeInterval(-Double(input.copied.count))
    try onPhone.add(
      input.copied.enumerated().map {
        ClipboardEntry(id: UUID(), text: $1, timestamp: start.addingTimeInterval(Double($0)))
      })
    tell("\(count(input.copied.count, "clipboard entry")), lines of \(input.origin)")
    for each in [phone, desk] {
      try await sync(each) {
        "the \(each.device.name) has \(count($0.clipboard.entries.count, "entry"))"
      }
    }
    try await offline(phone, desk) {
      for each in [phone, desk] {
        let text = "copied on the \(each.device.name), far from any network"
        try each.app.clipboard.add(ClipboardEntry(id: UUID(), text: text, timestamp: Date()))
      }
      if let oldest = onDesk.entries.last { try onDesk.delete(oldest.id) }
    }
    tell("without a network, each copies a line, and the desk deletes the oldest")
    try await settle(phone, desk)
    let expected = input.copied.count + 1
    check(onDesk.entries.count == expected, "the desk has \(expected) entries")
    tell("then both have \(count(onPhone.entries.count, "entry")), newest first")
    compare(phone, desk)
  }
}
