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
    verb("add", on: layer, .text, .optionalWord, type, position, scale) {
      app, output, layer, source, title, type, position, scale in
      let draft = AnnotationStore.Draft(
        type: type ?? .text, title: title, text: try source?.read() ?? "",
        position: position ?? .zero, scale: scale ?? 1)
      try output.result("added", Row(try app.store.add(draft, to: layer.id)))
    }
    verb("list", .optionalWord, .flag("orphans")) { app, output, name, orphans in
      let id = try name.map { try layer.find(app, $0).id }
      let found = orphans ? app.store.orphans : app.store.annotations(on: id)
      try output.list(
        "annotations", found.map { Row($0) },
        [
          .init("ID", .id), .init("TYPE", isDetail: true), .init("  TITLE", .text),
          .init("PLACE", isDetail: true),
        ], empty: "no annotations")
    }
    verb("show", on: annotation) { app, output, annotation in
      let comments = app.store.comments(on: annotation.id).map(\.text)
      var document = Row(annotation).document
      document["text"] = annotation.content.text
      document["comments"] = comments
      try output.result(document, annotation.page(comments))
    }
    verb("edit", on: annotation, .text, .option("title"), type, position, scale) {
      app, output, annotation, source, title, type, position, scale in
      let text = try source?.read()
      let edited = try app.store.edit(annotation.id) { annotation in
        if let title { annotation.title = title.isEmpty ? nil : title }
        if let text { annotation.content.text = text }
        if let type { annotation.type = type }
        if let position { annotation.position = position }
        if let scale { annotation.scale = scale }
      }
      try output.result("changed", Row(edited))
    }
    verb("move", on: annotation, .word("the layer")) { app, output, annotation, name in
      let target = try layer.find(app, name)
      try output.result("moved", Row(try app.store.move(annotation.id, to: target.id)))
    }
    verb("delete", on: annotation) { app, output, annotation in
      try app.store.deleteAnnotation(annotation.id)
      try output.result("deleted", annotation.id)
    }
    verb("restore", .word("the ID")) { app, output, word in
      guard let id = UUID(uuidString: word) else {
        throw ToolError("\(quoted(word)) is not a whole ID")
      }
      try app.store.restore(id)
      try output.result("restored", id)
    }
    verb("attach", on: annotation, .word("the file")) { app, output, annotation, path in
      try app.store.attach(URL(fileURLWithPath: path), to: annotation.id)
      try output.result(
        Row(app.store.annotation(annotation.id) ?? annotation).document,
        "attached \(quoted(path)) to \(annotation.id)")
    }
    verb("comment", on: annotation, .word("what to say")) { app, output, annotation, text in
      let comment = try app.store.comment(on: annotation.id, text: text)
      try output.result(["comment": comment.id.uuidString], "said it: \(comment.id)")
    }
    verb("conflicts") { app, output in
      let rows = app.store.conflicts.map { Row($0) }
      let lines = rows.flatMap { row in row.cells.map(\.text) }
      try output.result(
        ["conflicts": rows.map(\.document)],
        rows.isEmpty ? "no conflicts" : lines.joined(separator: "\n"))
    }
    verb("resolve", on: conflict, resolution) { app, output, conflict, resolution in
      try app.store.resolve(conflict.id, use: resolution)
      try output.result(
        ["resolved": conflict.id.uuidString, "use": resolution.rawValue],
        "resolved \(conflict.id): \(resolution.rawValue)")
    }
    verb("strategy", strategy) { app, output, strategy in
      if let strategy { try app.store.setStrategy(strategy) }
      try output.result(["strategy": "\(app.store.strategy)"], "\(app.store.strategy)")
    }
    verb("link", network) { app, output, status in
      if let status { try app.setNetwork(status) }
      try output.result(
        ["link": app.network.rawValue], "the link is \(app.network.rawValue)")
    }
    verb.status { $0.status }
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

  /// A layer, named by its name or the beginning of its ID.
  static let layer = NamedItem<AnnotationsApp, Layer>("the layer") { app, word in
    let layers = app.store.layers
    let named = layers.filter { $0.name == word }
    return named.count == 1 ? named[0] : try find(word, in: layers, "layer")
  }

  /// An annotation, also one without a layer.
  private static let annotation = NamedItem<AnnotationsApp, Annotation>(
    "the annotation's ID", "annotation"
  ) { $0.store.annotations() + $0.store.orphans }

  private static let conflict = NamedItem<AnnotationsApp, AnnotationConflict>(
    "the ID of what is in conflict", "conflict"
  ) { $0.store.conflicts }

  private static let resolution = Parameter<ConflictResolution> { arguments in
    guard let word = arguments.value("use") else {
      throw UsageError("say which version: --use mine, theirs or merged")
    }
    return try checked(word, "--use is mine, theirs or merged") { .init(rawValue: $0) }
  }

  private static let strategy = Parameter<ConflictStrategy?> { arguments in
    guard let name = arguments.word() else { return nil }
    guard let strategy = ConflictStrategy(name) else {
      throw UsageError(
        "\(quoted(name)) is not a strategy; there are lastWriteWins, remoteWins, localWins, manual "
          + "and clearlyLaterWins(SECONDS)")
    }
    return strategy
  }

  private static let network = Parameter.optionalWord("the link is on, off or expensive") { word in
    ["on": NetworkStatus.online, "off": .offline, "expensive": .expensive][word]
  }

  private static let position = Parameter.option(
    "at", "--at needs three numbers such as 1,2.5,-3"
  ) { text -> SIMD3<Float>? in
    let numbers = text.split(separator: ",").map { Float($0) ?? .nan }
    let isPosition = numbers.count == 3 && numbers.allSatisfy(\.isFinite)
    return isPosition ? SIMD3(numbers[0], numbers[1], numbers[2]) : nil
  }

  private static let scale = Parameter.option("scale", "--scale needs a number") { text in
    Float(text).flatMap { $0.isFinite ? $0 : nil }
  }

  private static let type = Parameter.option(
    "type", "--type is \(AnnotationType.allCases.map(\.rawValue).joined(separator: ", "))"
  ) { AnnotationType(rawValue: $0) }
}
