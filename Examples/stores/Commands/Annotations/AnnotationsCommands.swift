import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

extension Store {
  /// Annotations pinned to places, on layers that people share.
  static let annotations = Store(
    "annotations", AnnotationsApp.self,
    summary: "annotations on shared layers; conflicts are decided",
    verbs: [
      layerVerb, addAnnotation, listAnnotations, showAnnotation, editAnnotation, moveAnnotation,
      deleteAnnotation, restoreAnnotation, attachFile, addComment, listConflicts, resolveConflict,
      setStrategy, setLink, showStatus, showMetrics,
    ],
    notes: """
      A layer is named by its name or its ID; an ID may be shortened as long as it stays unique.
      Strategies: lastWriteWins, remoteWins, localWins, manual, clearlyLaterWins(SECONDS), and
      several of them by field, such as title=manual,lastWriteWins.
      """,
    watching: Watching(
      noun: "annotation", subscriptions: PushLine.privateDatabase + PushLine.sharedDatabase
    ) { app in
      app.store.annotations().map { annotation in
        let document = AnnotationDocument(annotation)
        return .init(
          id: annotation.id.uuidString, state: document.words + annotation.content.text,
          document: document, words: document.words)
      }
    },
    completing: [
      "LAYER": Completing(AnnotationsApp.self) { app in
        app.store.layers.map { ($0.name, "\($0.id)") }
      }
    ],
    act: .annotations)

  private static let addAnnotation = Verb(
    "add LAYER [TITLE] [--text TEXT | --file FILE | -] [--at X,Y,Z] [--scale N] [--type TYPE]",
    "pin an annotation to a layer", on: AnnotationsApp.self
  ) { arguments in
    let layer = try arguments.word("the layer")
    let source = try TextSource(&arguments)
    let title = arguments.word()
    let changes = try AnnotationChanges(&arguments)
    return { app, output in
      var draft = AnnotationStore.Draft(title: title, text: try source?.read() ?? "")
      if let type = changes.type { draft.type = type }
      if let position = changes.position { draft.position = position }
      if let scale = changes.scale { draft.scale = scale }
      let added = try app.store.add(draft, to: try app.layer(layer).id)
      let document = AnnotationDocument(added)
      try output.result(document, "added " + document.words)
    }
  }

  private static let listAnnotations = Verb(
    "list [LAYER] [--orphans]", "all annotations, those of a layer,\nor those without one",
    on: AnnotationsApp.self
  ) { arguments in
    let (layer, orphans) = (arguments.word(), arguments.flag("orphans"))
    return { app, output in
      let id = try layer.map { try app.layer($0).id }
      let found = orphans ? app.store.orphans : app.store.annotations(on: id)
      let documents = found.map { AnnotationDocument($0) }
      try output.result(
        ["annotations": documents],
        Table(
          [
            .init("ID", .id), .init("TYPE", isDetail: true), .init("  TITLE", .text),
            .init("PLACE", isDetail: true),
          ],
          documents.map(\.cells)), empty: "no annotations")
    }
  }

  private static let showAnnotation = Verb(
    "show ID", "all of an annotation, with its comments", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    return { app, output in
      let annotation = try app.annotation(id)
      let document = AnnotationDocument(
        annotation, comments: app.store.comments(on: annotation.id))
      try output.result(document, document.page)
    }
  }

  private static let editAnnotation = Verb(
    "edit ID [--title TITLE] [--text TEXT | --file FILE | -] [--at X,Y,Z] "
      + "[--scale N] [--type TYPE]",
    "change an annotation", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    let (source, title) = (try TextSource(&arguments), arguments.value("title"))
    let changes = try AnnotationChanges(&arguments)
    return { app, output in
      let text = try source?.read()
      let edited = try app.store.edit(try app.annotation(id).id) { annotation in
        if let title { annotation.title = title.isEmpty ? nil : title }
        if let text { annotation.content.text = text }
        if let type = changes.type { annotation.type = type }
        if let position = changes.position { annotation.position = position }
        if let scale = changes.scale { annotation.scale = scale }
      }
      let document = AnnotationDocument(edited)
      try output.result(document, "changed " + document.words)
    }
  }

  private static let moveAnnotation = Verb(
    "move ID LAYER", "move an annotation to another layer", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    let layer = try arguments.word("the layer")
    return { app, output in
      let moved = try app.store.move(try app.annotation(id).id, to: try app.layer(layer).id)
      let document = AnnotationDocument(moved)
      try output.result(document, "moved " + document.words)
    }
  }

  private static let deleteAnnotation = Verb(
    "delete ID", "put an annotation into the trash", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    return { app, output in
      let annotation = try app.annotation(id)
      try app.store.deleteAnnotation(annotation.id)
      try output.result(["deleted": annotation.id.uuidString], "deleted \(annotation.id)")
    }
  }

  private static let restoreAnnotation = Verb(
    "restore ID", "take an annotation or layer out of the trash;\nneeds the whole ID",
    on: AnnotationsApp.self
  ) { arguments in
    let word = try arguments.word("the ID")
    return { app, output in
      guard let id = UUID(uuidString: word) else {
        throw ToolError("\(quoted(word)) is no whole ID")
      }
      try app.store.restore(id)
      try output.result(["restored": id.uuidString], "restored \(id)")
    }
  }

  private static let attachFile = Verb(
    "attach ID FILE", "give an annotation a picture or another file", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    let path = try arguments.word("the file")
    return { app, output in
      let annotation = try app.annotation(id)
      try app.store.attach(URL(fileURLWithPath: path), to: annotation.id)
      try output.result(
        AnnotationDocument(app.store.annotation(annotation.id) ?? annotation),
        "attached \(quoted(path)) to \(annotation.id)")
    }
  }

  private static let addComment = Verb(
    "comment ID TEXT", "say something about an annotation", on: AnnotationsApp.self
  ) { arguments in
    let id = try arguments.word("the annotation's ID")
    let text = try arguments.word("what to say")
    return { app, output in
      let comment = try app.store.comment(on: try app.annotation(id).id, text: text)
      try output.result(["comment": comment.id.uuidString], "said it: \(comment.id)")
    }
  }

  private static let setStrategy = Verb(
    "strategy [NAME]", "what decides about conflicts, or set it", on: AnnotationsApp.self
  ) { arguments in
    let name = arguments.word()
    let wanted = name.flatMap(ConflictStrategy.init)
    if let name, wanted == nil {
      throw UsageError(
        "\(quoted(name)) is no strategy; there are lastWriteWins, remoteWins, localWins, manual "
          + "and clearlyLaterWins(SECONDS)")
    }
    return { app, output in
      if let wanted { try app.store.setStrategy(wanted) }
      try output.result(["strategy": "\(app.store.strategy)"], "\(app.store.strategy)")
    }
  }

  private static let setLink = Verb(
    "link [on|off|expensive]", "the simulated network of this device", on: AnnotationsApp.self
  ) { arguments in
    let word = arguments.word()
    let known: [String: NetworkStatus] = ["on": .online, "off": .offline, "expensive": .expensive]
    let wanted = word.flatMap { known[$0] }
    if let word, wanted == nil {
      throw UsageError("the link is on, off or expensive, not \(quoted(word))")
    }
    return { app, output in
      if let wanted { try app.setNetwork(wanted) }
      try output.result(
        ["link": app.network.rawValue], "the link is \(app.network.rawValue)")
    }
  }

  private static let showStatus = Verb(
    "status", "where sync stands, what waits, what is refused", on: AnnotationsApp.self
  ) { _ in
    { app, output in
      let document = AnnotationsStatusDocument(app)
      var lines = [
        document.words,
        "strategy: \(document.strategy), link: \(document.link)",
        "last sync: \(document.lastSync.map(timestamp) ?? "never")",
      ]
      if document.orphans > 0 {
        lines.append(
          "\(count(document.orphans, "annotation")) without a layer: see list --orphans")
      }
      if document.unreadable > 0 {
        lines.append(
          "\(count(document.unreadable, "record")) of a newer version, kept and not shown")
      }
      lines += document.refused.map { "refused: \($0.id) \($0.message)" }
      try output.result(document, lines.joined(separator: "\n"))
    }
  }

  private static let showMetrics = Verb(
    "metrics [--reset]", "figures of all syncs of this device", on: AnnotationsApp.self
  ) { arguments in
    let isReset = arguments.flag("reset")
    return { app, output in
      if isReset { try app.resetMetrics() }
      let metrics = try app.metrics()
      let duration = metrics.lastSyncDuration.map { "\(($0 * 1_000).rounded() / 1_000) s" }
      try output.result(
        metrics,
        """
        uploads: \(metrics.uploadCount)
        downloads: \(metrics.downloadCount)
        conflicts: \(metrics.conflictCount)
        errors: \(metrics.errorCount)
        last sync took: \(duration ?? "–")
        """)
    }
  }
}

/// What `add` and `edit` may say of an annotation beside its words.
private struct AnnotationChanges: Sendable {
  var position: SIMD3<Float>?
  var scale: Float?
  var type: AnnotationType?

  init(_ arguments: inout Arguments) throws(UsageError) {
    if let text = arguments.value("at") {
      let numbers = text.split(separator: ",").compactMap { Float($0) }.filter(\.isFinite)
      guard numbers.count == 3, text.split(separator: ",").count == 3 else {
        throw UsageError("--at needs three numbers such as 1,2.5,-3, not \(quoted(text))")
      }
      position = SIMD3(numbers[0], numbers[1], numbers[2])
    }
    if let text = arguments.value("scale") {
      guard let number = Float(text), number.isFinite else {
        throw UsageError("--scale needs a number, not \(quoted(text))")
      }
      scale = number
    }
    if let text = arguments.value("type") {
      guard let known = AnnotationType(rawValue: text) else {
        throw UsageError(
          "--type is \(AnnotationType.allCases.map(\.rawValue).joined(separator: ", ")), "
            + "not \(quoted(text))")
      }
      type = known
    }
  }
}
