import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

extension Store {
  /// Layers: making, listing, sharing, joining, leaving.
  static let layerVerb = Verb(
    "layer add|list|share|accept|revoke|leave|delete [LAYER|NAME|URL] [--with PERSON...] [--link] "
      + "[--read-only]",
    "layers: add NAME, list, share LAYER (--with PERSON | --link),\n"
      + "accept URL, revoke LAYER [--with PERSON], leave LAYER,\ndelete LAYER"
  ) { arguments in
    let verb = try arguments.word("what to do with layers")
    let word = arguments.word()
    let people = arguments.values("with")
    let (isLink, isReadOnly) = (arguments.flag("link"), arguments.flag("read-only"))
    func named(_ what: String) throws(UsageError) -> String {
      guard let word else { throw UsageError("\(what) is missing") }
      return word
    }
    switch verb {
    case "add":
      let name = try named("the new layer's name")
      return local { app, output in
        let layer = try app.store.addLayer(named: name)
        try output.result(
          LayerDocument(layer, app.store), "added \(layer.id) \(printable(name))")
      }
    case "list": return local(list)
    case "delete":
      let name = try named("the layer")
      return local { app, output in
        let layer = try app.layer(name)
        try app.store.deleteLayer(layer.id)
        try output.result(["deleted": layer.id.uuidString], "deleted \(layer.id)")
      }
    case "share":
      let name = try named("the layer")
      guard isLink || !people.isEmpty else {
        throw UsageError("say with whom: --with PERSON, or --link for all who know the link")
      }
      let guests = people.map(guest) + (isLink ? [.anyoneWithLink] : [])
      return online { app, output in
        let layer = try app.layer(name)
        let url = try await app.store.share(layer.id, with: guests, mayWrite: !isReadOnly)
        try output.result(["url": url.absoluteString], url.absoluteString)
      }
    case "accept":
      let text = try named("the link")
      guard let url = URL(string: text), url.scheme != nil else {
        throw UsageError("\(quoted(text)) is no link")
      }
      return online { app, output in
        try await app.store.accept(url)
        try list(app, output)
      }
    case "revoke":
      let name = try named("the layer")
      return online { app, output in try await revoke(try app.layer(name), people, app, output) }
    case "leave":
      let name = try named("the layer")
      return online { app, output in
        let layer = try app.layer(name)
        try await app.store.leave(layer.id)
        try output.result(["left": layer.id.uuidString], "left \(layer.id)")
      }
    default:
      throw UsageError(
        "a layer is added, listed, shared, accepted, revoked, left or deleted, not \(quoted(verb))")
    }
  }

  /// What is done without the server.
  private static func local(
    _ body: @escaping @Sendable (AnnotationsApp, Output) throws -> Void
  ) -> Verb.Action {
    { invocation in
      try await invocation.withSession { session in
        try body(try session.app(AnnotationsApp.self), invocation.output)
      }
    }
  }

  /// What is asked of the server, after a sync: what is to be shared must be there.
  private static func online(
    _ body: @escaping @Sendable (AnnotationsApp, Output) async throws -> Void
  ) -> Verb.Action {
    { invocation in
      try await invocation.withSession { session in
        _ = try await session.sync(AnnotationsApp.self)
        try await body(try session.app(AnnotationsApp.self), invocation.output)
      }
    }
  }

  @Sendable private static func list(_ app: AnnotationsApp, _ output: Output) throws {
    let documents = app.store.layers.map { LayerDocument($0, app.store) }
    try output.result(
      ["layers": documents],
      Table(
        [
          .init("ID", .id), .init("  LAYER", .text), .init("ITEMS", .number), .init("WHOSE", .text),
        ],
        documents.map(\.cells)), empty: "no layers")
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
    if people.isEmpty {
      try await app.store.revoke(layer.id)
    }
    for person in people {
      let found = app.store.participants(of: layer.id).filter {
        !$0.isOwner && ($0.id.hasPrefix(person) || (!$0.name.isEmpty && $0.name == person))
      }
      guard found.count == 1, let guest = found.first else {
        throw ToolError("\(quoted(person)) is nobody in this share; see layer list --json")
      }
      try await app.store.revoke(layer.id, participant: guest.id)
    }
    try output.result(
      ["revoked": layer.id.uuidString], "the layer \(printable(layer.name)) is taken back")
  }

  // MARK: Conflicts

  static let listConflicts = Verb(
    "conflicts", "what two devices changed differently,\nand a person has to decide",
    on: AnnotationsApp.self
  ) { _ in
    { app, output in
      let documents = app.store.conflicts.map(ConflictDocument.init)
      try output.result(
        ["conflicts": documents],
        documents.isEmpty ? "no conflicts" : documents.map(\.words).joined(separator: "\n"))
    }
  }

  static let resolveConflict = Verb(
    "resolve ID --use mine|theirs|merged", "decide a conflict", on: AnnotationsApp.self
  ) { arguments in
    let prefix = try arguments.word("the ID of what is in conflict")
    guard let word = arguments.value("use") else {
      throw UsageError("say which version: --use mine, theirs or merged")
    }
    guard let resolution = ConflictResolution(rawValue: word) else {
      throw UsageError("--use is mine, theirs or merged, not \(quoted(word))")
    }
    return { app, output in
      let id = try find(prefix, in: app.store.conflicts.map(\.id), "conflict")
      try app.store.resolve(id, use: resolution)
      try output.result(
        ["resolved": id.uuidString, "use": word], "resolved \(id): \(word)")
    }
  }
}
