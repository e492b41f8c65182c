import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

private let verb = Verbs<AnnotationsApp>()

extension Store {
  /// Annotations pinned to places, on layers that people share.
  static let annotations = Store(
    "annotations",
    watching: Watching<AnnotationsApp>(
      noun: "annotation", subscriptions: PushLine.privateDatabase + PushLine.sharedDatabase
    ) { app in
      app.store.annotations().map { annotation in
        let row = Row(annotation)
        return .init(annotation.id.uuidString, row, state: row.words + annotation.content.text)
      }
    },
    completing: [
      "LAYER": Completing(AnnotationsApp.self) { app in
        app.store.layers.map { ($0.name, "\($0.id)") }
      }
    ],
    act: .annotations
  ) {
    layerVerb
    verb("add", .word("the layer"), .text, .optionalWord, .changes) {
      app, output, layer, source, title, changes in
      var draft = AnnotationStore.Draft(title: title, text: try source?.read() ?? "")
      if let type = changes.type { draft.type = type }
      if let position = changes.position { draft.position = position }
      if let scale = changes.scale { draft.scale = scale }
      let row = Row(try app.store.add(draft, to: try app.layer(layer).id))
      try output.result(row.document, "added " + row.words)
    }
    verb("list", .optionalWord, .flag("orphans")) { app, output, layer, orphans in
      let id = try layer.map { try app.layer($0).id }
      let found = orphans ? app.store.orphans : app.store.annotations(on: id)
      try output.list(
        "annotations", found.map { Row($0) },
        [
          .init("ID", .id), .init("TYPE", isDetail: true), .init("  TITLE", .text),
          .init("PLACE", isDetail: true),
        ], empty: "no annotations")
    }
    verb("show", annotationID) { app, output, id in
      let annotation = try app.annotation(id)
      let comments = app.store.comments(on: annotation.id).map(\.text)
      var document = Row(annotation).document
      document["text"] = annotation.content.text
      document["comments"] = comments
      try output.result(document, annotation.page(comments))
    }
    verb("edit", annotationID, .text, .option("title"), .changes) {
      app, output, id, source, title, changes in
      let text = try source?.read()
      let edited = try app.store.edit(try app.annotation(id).id) { annotation in
        if let title { annotation.title = title.isEmpty ? nil : title }
        if let text { annotation.content.text = text }
        if let type = changes.type { annotation.type = type }
        if let position = changes.position { annotation.position = position }
        if let scale = changes.scale { annotation.scale = scale }
      }
      try output.result(Row(edited).document, "changed " + Row(edited).words)
    }
    verb("move", annotationID, .word("the layer")) { app, output, id, layer in
      let row = Row(try app.store.move(try app.annotation(id).id, to: try app.layer(layer).id))
      try output.result(row.document, "moved " + row.words)
    }
    verb("delete", annotationID) { app, output, prefix in
      let id = try app.annotation(prefix).id
      try app.store.deleteAnnotation(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    }
    verb("restore", .word("the ID")) { app, output, word in
      guard let id = UUID(uuidString: word) else {
        throw ToolError("\(quoted(word)) is not a whole ID")
      }
      try app.store.restore(id)
      try output.result(["restored": id.uuidString], "restored \(id)")
    }
    verb("attach", annotationID, .word("the file")) { app, output, id, path in
      let annotation = try app.annotation(id)
      try app.store.attach(URL(fileURLWithPath: path), to: annotation.id)
      try output.result(
        Row(app.store.annotation(annotation.id) ?? annotation).document,
        "attached \(quoted(path)) to \(annotation.id)")
    }
    verb("comment", annotationID, .word("what to say")) { app, output, id, text in
      let comment = try app.store.comment(on: try app.annotation(id).id, text: text)
      try output.result(["comment": comment.id.uuidString], "said it: \(comment.id)")
    }
    listConflicts
    resolveConflict
    verb("strategy", strategy) { app, output, strategy in
      if let strategy { try app.store.setStrategy(strategy) }
      try output.result(["strategy": "\(app.store.strategy)"], "\(app.store.strategy)")
    }
    verb("link", network) { app, output, status in
      if let status { try app.setNetwork(status) }
      try output.result(
        ["link": app.network.rawValue], "the link is \(app.network.rawValue)")
    }
    verb.status { app in
      SyncReport(app.status.document, app.statusLines)
    }
    verb("metrics", .flag("reset")) { app, output, isReset in
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

  private static let annotationID = Parameter.word("the annotation's ID")

  private static let strategy = Parameter<ConflictStrategy?> { arguments in
    guard let name = arguments.word() else { return nil }
    guard let strategy = ConflictStrategy(name) else {
      throw UsageError(
        "\(quoted(name)) is not a strategy; there are lastWriteWins, remoteWins, localWins, manual "
          + "and clearlyLaterWins(SECONDS)")
    }
    return strategy
  }

  private static let network = Parameter<NetworkStatus?> { arguments in
    guard let word = arguments.word() else { return nil }
    let known: [String: NetworkStatus] = ["on": .online, "off": .offline, "expensive": .expensive]
    guard let status = known[word] else {
      throw UsageError("the link is on, off or expensive, not \(quoted(word))")
    }
    return status
  }
}

/// The options that `add` and `edit` have in common, except for the texts.
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

extension Parameter where Value == AnnotationChanges {
  fileprivate static var changes: Self { Parameter { try AnnotationChanges(&$0) } }
}
