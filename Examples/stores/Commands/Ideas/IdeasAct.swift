import CommandLineKit
import Foundation
import IdeaStore

extension DemoAct {
  /// A file of ideas in two languages, offline edits, and deletions that no query shows.
  static let ideas = DemoAct { stage in
    try await stage.think()
    try await stage.thinkApart()
  } addItem: { name, device in
    try device.app(IdeasApp.self).store.create(title: name)
  }
}

extension DemoStage {
  fileprivate mutating func think() async throws {
    begin("ideas: in the default zone, where nobody tells what changed")
    let (phone, desk) = try await both(IdeasApp.self)
    let (onPhone, onDesk) = (phone.app.store, desk.app.store)
    let report = try onPhone.importIdeas(fromCSV: Data(PackageResources.ideas_csv))
    tell(
      "\(count(report.added.count, "idea")) from a CSV file, also in Chinese; "
        + report.problems.map(\.description).joined(separator: "; "))
    check(report.added.count == 5 && report.problems.map(\.line) == [5], "one row is skipped")
    try await exchange(phone, desk) { count($0.store.ideas.count, "idea") }
    let page = try await onDesk.page(of: .completed)
    check(page.ideas.count == 1, "the cloud finds the completed idea")
    tell("the cloud, asked for the completed ones: \(page.ideas.map(\.title).joined())")
    compare(phone, desk)
  }

  fileprivate mutating func thinkApart() async throws {
    begin("ideas: edits and deletions on both devices without a network")
    let (phone, desk) = try await both(IdeasApp.self)
    let (onPhone, onDesk) = (phone.app.store, desk.app.store)
    let ideas = onPhone.ideas
    guard ideas.count >= 3 else { return check(false, "there are ideas to edit") }
    try await offline(phone, desk) {
      let earlier = try onPhone.update(ideas[0].id, title: "the earlier title")
      try onPhone.delete(ideas[1].id)
      let deletion = onPhone.deletedIdeas.first?.deletedAt ?? earlier.updatedAt
      // Dates are whole milliseconds; what happens within one is told apart by other means.
      var later = earlier.updatedAt
      while later <= max(earlier.updatedAt, deletion) {
        try onDesk.update(ideas[0].id, title: "the later title")
        later = try onDesk.update(
          ideas[1].id, description: "written after it was deleted elsewhere"
        ).updatedAt
        later = min(later, onDesk.idea(ideas[0].id)?.updatedAt ?? later)
      }
      try onDesk.delete(ideas[2].id)
    }
    try await settle(desk, phone)
    let (title, kept) = (onPhone.idea(ideas[0].id)?.title, onPhone.idea(ideas[1].id))
    check(title == "the later title", "the later of two edits stays")
    check(kept != nil && onDesk.idea(ideas[1].id) == kept, "a later edit survives a deletion")
    check(onPhone.idea(ideas[2].id) == nil, "a deletion without an edit stays one")
    tell("two edits of one idea: both show \(quoted(title ?? "nothing"))")
    tell("deleted here, then edited there: \(kept == nil ? "gone" : "it is there, as edited")")
    tell("deleted there: \(onPhone.deletedIdeas.count) marked as deleted here")
    compare(phone, desk)
  }
}
