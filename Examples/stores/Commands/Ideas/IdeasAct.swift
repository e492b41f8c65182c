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

/// What the phone imports: quotes, a line break, another script, and a row without a title.
private let ideasFile = """
  title,description,isCompleted,createdAt
  Rain gauge on the balcony,"A jam jar, a ruler, and a note every morning",0,2026-01-04T08:15:00Z
  "Library of lent things, with names","Who has the drill?
  Who has the tent?",1,2026-01-09T19:02:11.250Z
  ,an idea that nobody wrote down,0,2026-01-10
  Soup swap,Five neighbours cook one pot each and trade,0,2026-01-20
  陽台雨量計,"果醬罐、一把尺，每天早上記一筆",0,2026-02-01T08:15:00Z
  寫給自己的明信片,每趟旅行寄一張,0,2026-03-15T21:10:00Z
  """

extension DemoStage {
  fileprivate mutating func think() async throws {
    begin("ideas: in the default zone, where nobody tells what changed")
    let (phone, desk) = (try await phone(), try await desk())
    let (onPhone, onDesk) = (try phone.app(IdeasApp.self), try desk.app(IdeasApp.self))
    let report = try onPhone.store.importIdeas(fromCSV: Data(ideasFile.utf8))
    tell(
      "\(count(report.added.count, "idea")) from a CSV file, also in Chinese; "
        + report.problems.map(\.description).joined(separator: "; "))
    check(report.added.count == 5 && report.problems.map(\.line) == [5], "one row is skipped")
    try await sync(IdeasApp.self, on: phone) { "sent \(count($0.store.ideas.count, "idea"))" }
    try await sync(IdeasApp.self, on: desk) { "received \(count($0.store.ideas.count, "idea"))" }
    let page = try await onDesk.store.page(of: .completed)
    check(page.ideas.count == 1, "the cloud finds the completed idea")
    tell("the cloud, asked for the completed ones: \(page.ideas.map(\.title).joined())")
    try compare(IdeasApp.self, phone, desk)
  }

  fileprivate mutating func thinkApart() async throws {
    begin("ideas: edits and deletions on both devices without a network")
    let (phone, desk) = (try await phone(), try await desk())
    let (onPhone, onDesk) = (try phone.app(IdeasApp.self), try desk.app(IdeasApp.self))
    let ideas = onPhone.store.ideas
    guard ideas.count >= 3 else { return check(false, "there are ideas to edit") }
    try await offline([phone, desk]) {
      let earlier = try onPhone.store.update(ideas[0].id, title: "the earlier title")
      try onPhone.store.delete(ideas[1].id)
      let deletion = onPhone.store.deletedIdeas.first?.deletedAt ?? earlier.updatedAt
      // Dates are whole milliseconds; what happens within one is told apart by other means.
      var later = earlier.updatedAt
      while later <= max(earlier.updatedAt, deletion) {
        try onDesk.store.update(ideas[0].id, title: "the later title")
        later = try onDesk.store.update(
          ideas[1].id, description: "written after it was deleted elsewhere"
        ).updatedAt
        later = min(later, onDesk.store.idea(ideas[0].id)?.updatedAt ?? later)
      }
      try onDesk.store.delete(ideas[2].id)
    }
    try await settle(IdeasApp.self, [desk, phone])
    let (title, kept) = (onPhone.store.idea(ideas[0].id)?.title, onPhone.store.idea(ideas[1].id))
    check(title == "the later title", "the later of two edits stays")
    check(kept != nil && onDesk.store.idea(ideas[1].id) == kept, "a later edit survives a deletion")
    check(onPhone.store.idea(ideas[2].id) == nil, "a deletion without an edit stays one")
    tell("two edits of one idea: both show \(quoted(title ?? "nothing"))")
    tell("deleted here, then edited there: \(kept == nil ? "gone" : "it is there, as edited")")
    tell("deleted there: \(onPhone.store.deletedIdeas.count) marked as deleted here")
    try compare(IdeasApp.self, phone, desk)
  }
}
