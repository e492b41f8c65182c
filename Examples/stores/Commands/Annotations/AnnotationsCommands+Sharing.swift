import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

private let verb = Verbs<AnnotationsApp>()

extension Store {
  /// The verb for layers: adding, listing, sharing, joining, leaving.
  static let layerVerb = Verb("layer") { arguments in
    let name = try arguments.word("what to do with layers")
    guard let command = layerCommands.first(where: { $0.name == name }) else {
      throw UsageError(
        "a layer is added, listed, shared, accepted, revoked, left or deleted, not \(quoted(name))")
    }
    return try command.parse(&arguments)
  }

  private static let layerCommands: [Verb] = [
    verb("add", .word("the new layer's name")) { app, output, name in
      let layer = try app.store.addLayer(named: name)
      try output.result(Row(layer, app.store).document, "added \(layer.id) \(printable(name))")
    },
    verb("list") { app, output in try list(app, output) },
    verb("delete", .word("the layer")) { app, output, layer in
      let id = try app.layer(layer).id
      try app.store.deleteLayer(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    },
    verb("share", access: .syncedServer, .word("the layer"), guests, .flag("read-only")) {
      app, output, layer, guests, isReadOnly in
      let url = try await app.store.share(
        try app.layer(layer).id, with: guests, mayWrite: !isReadOnly)
      try output.result(["url": url.absoluteString], url.absoluteString)
    },
    verb("accept", access: .syncedServer, link) { app, output, link in
      try await app.store.accept(link)
      try list(app, output)
    },
    verb("revoke", access: .syncedServer, .word("the layer"), people) {
      app, output, layer, people in
      try await revoke(try app.layer(layer), people, app, output)
    },
    verb("leave", access: .syncedServer, .word("the layer")) { app, output, layer in
      let id = try app.layer(layer).id
      try await app.store.leave(id)
      try output.result(["left": id.uuidString], "left \(id)")
    },
  ]

  private static let people = Parameter { $0.values("with") }

  /// The people of `--with`, by address, number or user record, and all others of `--link`.
  private static let guests = Parameter<[LayerGuest]> { arguments in
    let people = try people.read(&arguments).map { word -> LayerGuest in
      word.hasPrefix("_") ? .user(word) : word.hasPrefix("+") ? .phone(word) : .email(word)
    }
    let guests = people + (arguments.flag("link") ? [.anyoneWithLink] : [])
    guard !guests.isEmpty else {
      throw UsageError("say with whom: --with PERSON, or --link for all who know the link")
    }
    return guests
  }

  private static let link = Parameter<URL> { arguments in
    let text = try arguments.word("the link")
    guard let url = URL(string: text), url.scheme != nil else {
      throw UsageError("\(quoted(text)) is no link")
    }
    return url
  }

  private static func list(_ app: AnnotationsApp, _ output: Output) throws {
    try output.list(
      "layers", app.store.layers.map { Row($0, app.store) },
      [
        .init("ID", .id), .init("  LAYER", .text), .init("ITEMS", .number), .init("WHOSE", .text),
      ], empty: "no layers")
  }

  private static func revoke(
    _ layer: Layer, _ people: [String], _ app: AnnotationsApp, _ output: Output
  ) async throws {
    if people.isEmpty { try await app.store.revoke(layer.id) }
    for person in people {
      let found = app.store.participants(of: layer.id).filter {
        !$0.isOwner && ($0.id.hasPrefix(person) || (!$0.name.isEmpty && $0.name == person))
      }
      guard found.count == 1, let guest = found.first else {
        throw ToolError("\(quoted(person)) is not in this share; see layer list --json")
      }
      try await app.store.revoke(layer.id, participant: guest.id)
    }
    try output.result(
      ["revoked": layer.id.uuidString], "the layer \(printable(layer.name)) is no longer shared")
  }

  // MARK: Conflicts

  static let listConflicts = verb("conflicts") { app, output in
    let rows = app.store.conflicts.map { Row($0) }
    let lines = rows.flatMap { row in row.cells.map(\.text) }
    try output.result(
      ["conflicts": rows.map(\.document)],
      rows.isEmpty ? "no conflicts" : lines.joined(separator: "\n"))
  }

  static let resolveConflict = verb(
    "resolve",
    .word("the ID of what is in conflict"),
    Parameter { arguments in
      guard let word = arguments.value("use") else {
        throw UsageError("say which version: --use mine, theirs or merged")
      }
      guard let resolution = ConflictResolution(rawValue: word) else {
        throw UsageError("--use is mine, theirs or merged, not \(quoted(word))")
      }
      return resolution
    }
  ) { app, output, prefix, resolution in
    let id = try find(prefix, in: app.store.conflicts, "conflict").id
    try app.store.resolve(id, use: resolution)
    try output.result(
      ["resolved": id.uuidString, "use": resolution.rawValue],
      "resolved \(id): \(resolution.rawValue)")
  }
}
