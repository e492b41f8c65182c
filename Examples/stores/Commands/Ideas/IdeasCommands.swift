import CloudSync
import CommandLineKit
import Foundation
import IdeaStore

private let verb = Verbs<IdeasApp>()

extension Store {
  /// Ideas in the default zone.
  static let ideas = Store(
    "ideas",
    watching: Watching<IdeasApp>(
      noun: "idea", removed: "deleted",
      subscriptions: [
        {
          let subscription = CKQuerySubscription(
            recordType: IdeaRecord.recordType, predicate: NSPredicate(value: true),
            subscriptionID: "stores-watch-ideas")
          subscription.zoneID = IdeaRecord.zoneID
          return (.private, subscription)
        }
      ]
    ) { app in
      app.store.ideas.map { .init($0.id.uuidString, app.row($0), state: $0) }
    },
    act: .ideas
  ) {
    verb("add", .wordAndText("the idea's title")) { app, output, given in
      let (title, text) = given
      let idea = try app.store.create(title: title, description: try text?.read() ?? "")
      try output.result(app.row(idea).document, "added \(idea.id)")
    }
    verb("list", .flag("completed"), .number("limit")) { app, output, isCompletedOnly, limit in
      let all = app.store.ideas.filter { !isCompletedOnly || $0.isCompleted }
      try output.list(
        "ideas", all.prefix(limit ?? all.count).map(app.row),
        [.init("ID", .id), .init("UPDATED", isDetail: true), .init("  IDEA", .text)],
        with: ["total": all.count, "unsent": app.unsent],
        empty: isCompletedOnly ? "no completed ideas" : "no ideas")
    }
    verb("show", on: idea) { app, output, idea in
      try output.result(app.row(idea).document, app.details(idea))
    }
    verb("edit", changes) { app, output, changes in
      let id = try idea.find(app, changes.prefix).id
      let text = try changes.text?.read()
      try app.show(try app.store.update(id, title: changes.title, description: text), output)
    }
    completion("done", true)
    completion("undone", false)
    verb("delete", on: idea) { app, output, idea in
      try app.store.delete(idea.id)
      try output.result("deleted", idea.id)
    }
    verb("import", .word("a CSV file")) { app, output, path in
      try app.importIdeas(path, output)
    }
    verb.status { $0.status }
    verb("log", .number("limit")) { app, output, limit in
      try output.list(
        "log", app.store.log.suffix(limit ?? IdeaLogEntry.limit).map(row),
        [.init("TIME", isDetail: true), .init("WHAT"), .init("MESSAGE", .text)],
        empty: "nothing happened yet")
    }
    Verb.inSession("latency", .number("count")) { session, output, number in
      try await session.device.connect()
      try output.result(await IdeaLatency(session: session).run(number ?? 200))
    }
  }

  private static func completion(_ name: String, _ isCompleted: Bool) -> Verb {
    verb(name, on: idea) { app, output, idea in
      try app.show(try app.store.update(idea.id, isCompleted: isCompleted), output)
    }
  }

  private static let idea = NamedItem<IdeasApp, Idea>("the idea's ID", "idea") { $0.store.ideas }

  private static let changes = Parameter<(prefix: String, title: String?, text: TextSource?)> {
    arguments in
    let title = arguments.value("title")
    let (prefix, text) = try Parameter.wordAndText(idea.what).read(&arguments)
    guard title != nil || text != nil else {
      throw UsageError("say what to change: --title, --text, --file or -")
    }
    return (prefix, title, text)
  }

  @Sendable private static func row(_ entry: IdeaLogEntry) -> Row {
    let operation = entry.operation.rawValue
    let isBad = operation == "failure" || operation == "damage"
    let idea = entry.ideaID.map { "\($0.uuidString.prefix(8)): " } ?? ""
    return Row(
      [
        "date": entry.date, "operation": operation, "idea": entry.ideaID,
        "message": entry.message,
      ],
      [
        .init(timestamp(entry.date), .dim), .init(operation, isBad ? .red : .plain),
        .init(idea + entry.message),
      ])
  }
}

extension IdeasApp {
  fileprivate func show(_ idea: Idea, _ output: Output) throws {
    try output.result(row(idea).document, "version \(idea.version) of \(idea.id)")
  }

  fileprivate func importIdeas(_ path: String, _ output: Output) throws {
    let report = try store.importIdeas(fromCSV: try readFile(path))
    let document: Document = [
      "added": report.added.map(\.id), "duplicates": report.duplicates,
      "problems": report.problems.map(\.description), "ignoredColumns": report.ignoredColumns,
    ]
    try output.result(
      document,
      "\(count(report.added.count, "idea")) added, \(report.duplicates) known already, "
        + "\(report.problems.count) skipped")
    for problem in report.problems { output.note(problem.description) }
    for column in report.ignoredColumns {
      output.note("the column \(quoted(column)) was ignored")
    }
  }
}
