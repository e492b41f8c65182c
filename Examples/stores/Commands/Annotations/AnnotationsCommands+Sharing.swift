import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

/// The words and options of the verb `layer`.
private struct LayerArguments: Sendable {
  /// The word after the first one: a layer, a name or a link.
  var word: String
  var people: [String]
  var isLink: Bool
  var isReadOnly: Bool
}

extension Store {
  /// A command of the verb `layer`.
  private struct LayerCommand: Sendable {
    /// What the word after the command is; `nil` if it takes none.
    var word: String?
    var access = Verb.Access.device
    /// Checks the arguments before anything is opened.
    var check: @Sendable (LayerArguments) throws -> Void = { _ in }
    var run: @Sendable (AnnotationsApp, Output, LayerArguments) async throws -> Void
  }

  /// The verb for layers: adding, listing, sharing, joining, leaving.
  static let layerVerb = Verb(
    "layer add|list|share|accept|revoke|leave|delete [LAYER|NAME|URL] [--with PERSON...] [--link] "
      + "[--read-only]",
    "layers: add NAME, list, share LAYER (--with PERSON | --link),\n"
      + "accept URL, revoke LAYER [--with PERSON], leave LAYER,\ndelete LAYER"
  ) { arguments in
    let name = try arguments.word("what to do with layers")
    let word = arguments.word()
    let given = LayerArguments(
      word: word ?? "", people: arguments.values("with"), isLink: arguments.flag("link"),
      isReadOnly: arguments.flag("read-only"))
    guard let command = layerCommands[name] else {
      throw UsageError(
        "a layer is added, listed, shared, accepted, revoked, left or deleted, not \(quoted(name))")
    }
    if let what = command.word, word == nil { throw UsageError("\(what) is missing") }
    try command.check(given)
    return Verb.action(on: AnnotationsApp.self, command.access) { app, output in
      try await command.run(app, output, given)
    }
  }

  private static let layerCommands: [String: LayerCommand] = [
    "add": LayerCommand(word: "the new layer's name") { app, output, given in
      let layer = try app.store.addLayer(named: given.word)
      try output.result(
        Row(layer, app.store).document, "added \(layer.id) \(printable(given.word))")
    },
    "list": LayerCommand { app, output, _ in try list(app, output) },
    "delete": LayerCommand(word: "the layer") { app, output, given in
      let layer = try app.layer(given.word)
      try app.store.deleteLayer(layer.id)
      try output.result(["deleted": layer.id.uuidString], "deleted \(layer.id)")
    },
    "share": LayerCommand(
      word: "the layer", access: .syncedServer,
      check: { given in
        guard given.isLink || !given.people.isEmpty else {
          throw UsageError("say with whom: --with PERSON, or --link for all who know the link")
        }
      }
    ) { app, output, given in
      let url = try await app.store.share(
        try app.layer(given.word).id,
        with: given.people.map(guest) + (given.isLink ? [.anyoneWithLink] : []),
        mayWrite: !given.isReadOnly)
      try output.result(["url": url.absoluteString], url.absoluteString)
    },
    "accept": LayerCommand(
      word: "the link", access: .syncedServer, check: { _ = try link($0.word) }
    ) { app, output, given in
      try await app.store.accept(try link(given.word))
      try list(app, output)
    },
    "revoke": LayerCommand(word: "the layer", access: .syncedServer) { app, output, given in
      try await revoke(try app.layer(given.word), given.people, app, output)
    },
    "leave": LayerCommand(word: "the layer", access: .syncedServer) { app, output, given in
      let layer = try app.layer(given.word)
      try await app.store.leave(layer.id)
      try output.result(["left": layer.id.uuidString], "left \(layer.id)")
    },
  ]

  private static func link(_ text: String) throws(UsageError) -> URL {
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

  /// A person as named on the command line: by address, number, or user record.
  private static func guest(_ word: String) -> LayerGuest {
    if word.hasPrefix("_") { return .user(word) }
    if word.hasPrefix("+") { return .phone(word) }
    return .email(word)
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

  static let listConflicts = Verb(
    "conflicts", "what two devices changed differently,\nand a person has to decide",
    on: AnnotationsApp.self
  ) { app, output in
    let rows = app.store.conflicts.map { Row($0) }
    let lines = rows.flatMap { row in row.cells.map(\.text) }
    try output.result(
      ["conflicts": rows.map(\.document)],
      rows.isEmpty ? "no conflicts" : lines.joined(separator: "\n"))
  }

  static let resolveConflict = Verb(
    "resolve ID --use mine|theirs|merged", "decide a conflict", on: AnnotationsApp.self,
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
    let id = try find(prefix, in: app.store.conflicts.map(\.id), "conflict")
    try app.store.resolve(id, use: resolution)
    try output.result(
      ["resolved": id.uuidString, "use": resolution.rawValue],
      "resolved \(id): \(resolution.rawValue)")
  }
}
