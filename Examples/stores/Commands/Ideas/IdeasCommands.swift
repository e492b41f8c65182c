import CloudSync
import CommandLineKit
import Foundation
import IdeaStore

extension Store {
  /// Ideas in the default zone.
  static let ideas = Store(
    "ideas", IdeasApp.self,
    summary: "ideas in the default zone, found by queries",
    verbs: [
      addIdea, listIdeas, showIdea, editIdea, completeIdea, reopenIdea, deleteIdea, importIdeas,
      showIdeasStatus, showIdeasLog, measureLatency,
    ],
    notes: "The later change of an idea wins; its version and device break ties.",
    watching: Watching(
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
      app.store.ideas.map { idea in
        let document = IdeaDocument(idea, app.store.syncState(of: idea.id))
        return .init(
          id: idea.id.uuidString, state: idea, document: document, words: document.words)
      }
    },
    act: .ideas)

  private static let addIdea = Verb(
    "add TITLE [--text TEXT | --file FILE | -]", "note an idea, and what there is to say about it",
    on: IdeasApp.self
  ) { arguments in
    let source = try TextSource(&arguments)
    let title = try arguments.word("the idea's title")
    let late = try source ?? TextSource(&arguments)
    return { app, output in
      let idea = try app.store.create(title: title, description: try late?.read() ?? "")
      try output.result(IdeaDocument(idea, nil), "added \(idea.id)")
    }
  }

  private static let listIdeas = Verb(
    "list [--completed] [--limit N]", "last changed first; * waits to be sent", on: IdeasApp.self
  ) { arguments in
    let isCompletedOnly = arguments.flag("completed")
    let limit = try arguments.number("limit")
    return { app, output in
      let all = app.store.ideas.filter { !isCompletedOnly || $0.isCompleted }
      let documents = all.prefix(limit ?? all.count).map {
        IdeaDocument($0, app.store.syncState(of: $0.id))
      }
      try output.result(
        IdeasDocument(ideas: documents, total: all.count, unsent: app.unsent),
        Table(
          [.init("ID", .id), .init("UPDATED", isDetail: true), .init("  IDEA", .text)],
          documents.map(\.cells)),
        empty: isCompletedOnly ? "no completed ideas" : "no ideas")
    }
  }

  private static let showIdea = Verb(
    "show ID", "everything about an idea", on: IdeasApp.self
  ) { arguments in
    let prefix = try arguments.word("the idea's ID")
    return { app, output in
      let document = try app.document(prefix)
      try output.result(document, document.details)
    }
  }

  private static let editIdea = Verb(
    "edit ID [--title TITLE] [--text TEXT | --file FILE | -]", "change an idea", on: IdeasApp.self
  ) { arguments in
    let title = arguments.value("title")
    let source = try TextSource(&arguments)
    let prefix = try arguments.word("the idea's ID")
    let late = try source ?? TextSource(&arguments)
    guard title != nil || late != nil else {
      throw UsageError("say what to change: --title, --text, --file or -")
    }
    return { app, output in
      try app.change(prefix, output) { id in
        try app.store.update(id, title: title, description: try late?.read())
      }
    }
  }

  private static let completeIdea = Verb(
    "done ID", "an idea is done", on: IdeasApp.self
  ) { arguments in
    let prefix = try arguments.word("the idea's ID")
    return { app, output in
      try app.change(prefix, output) { try app.store.update($0, isCompleted: true) }
    }
  }

  private static let reopenIdea = Verb(
    "undone ID", "an idea is not done after all", on: IdeasApp.self
  ) { arguments in
    let prefix = try arguments.word("the idea's ID")
    return { app, output in
      try app.change(prefix, output) { try app.store.update($0, isCompleted: false) }
    }
  }

  private static let deleteIdea = Verb(
    "delete ID", "delete an idea", on: IdeasApp.self
  ) { arguments in
    let prefix = try arguments.word("the idea's ID")
    return { app, output in
      let id = try find(prefix, in: app.store.ideas.map(\.id), "idea")
      try app.store.delete(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    }
  }

  private static let importIdeas = Verb(
    "import FILE", "all ideas in a CSV file", on: IdeasApp.self
  ) { arguments in
    let path = try arguments.word("a CSV file")
    return { app, output in
      let report = try app.store.importIdeas(fromCSV: try readData(path))
      try output.result(
        IdeaImportDocument(
          added: report.added.map(\.id), duplicates: report.duplicates,
          problems: report.problems.map(\.description), ignoredColumns: report.ignoredColumns),
        "\(count(report.added.count, "idea")) added, \(report.duplicates) known already, "
          + "\(report.problems.count) skipped")
      for problem in report.problems { output.note(problem.description) }
      for column in report.ignoredColumns {
        output.note("the column \(quoted(column)) was ignored")
      }
    }
  }

  private static let showIdeasStatus = Verb(
    "status", "where sync stands, and what waits", on: IdeasApp.self
  ) { _ in
    { app, output in
      let status = app.status
      try output.result(status, status.words)
    }
  }

  private static let showIdeasLog = Verb(
    "log [--limit N]", "what sync did, newest last; 200 lines are kept", on: IdeasApp.self
  ) { arguments in
    let limit = try arguments.number("limit")
    return { app, output in
      let documents = app.store.log.suffix(limit ?? IdeaLogEntry.limit).map(IdeaLogDocument.init)
      try output.result(
        ["log": documents],
        Table(
          [.init("TIME", isDetail: true), .init("WHAT"), .init("MESSAGE", .text)],
          documents.map(\.cells)),
        empty: "nothing happened yet")
    }
  }
}

extension Store {
  private static let measureLatency = Verb(
    "latency [--count N]",
    "how long ideas take from one device to another, by\npush; 200 ideas unless given"
  ) { arguments in
    let number = try arguments.number("count") ?? 200
    return { invocation in
      let result = try await invocation.withSession { session in
        try await session.device.connect()
        return try await IdeaLatency(session).run(number)
      }
      try invocation.output.result(result, result.words)
    }
  }
}

extension IdeasApp {
  fileprivate func document(_ prefix: String) throws -> IdeaDocument {
    let id = try find(prefix, in: store.ideas.map(\.id), "idea")
    guard let idea = store.idea(id) else { throw IdeaError.notFound }
    return IdeaDocument(idea, store.syncState(of: id))
  }

  fileprivate func change(
    _ prefix: String, _ output: Output, _ body: (UUID) throws -> Idea
  ) throws {
    let idea = try body(try find(prefix, in: store.ideas.map(\.id), "idea"))
    try output.result(
      IdeaDocument(idea, store.syncState(of: idea.id)), "version \(idea.version) of \(idea.id)")
  }
}
