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
    verb("delete", on: layer) { app, output, layer in
      try app.store.deleteLayer(layer.id)
      try output.result("deleted", layer.id)
    },
    verb("share", access: .syncedServer, on: layer, guests, .flag("read-only")) {
      app, output, layer, guests, isReadOnly in
      let url = try await app.store.share(layer.id, with: guests, mayWrite: !isReadOnly)
      try output.result(["url": url.absoluteString], url.absoluteString)
    },
    verb("accept", access: .syncedServer, .link("the link")) { app, output, link in
      try await app.store.accept(link)
      try list(app, output)
    },
    verb("revoke", access: .syncedServer, on: layer, people) { app, output, layer, people in
      let name = printable(layer.name)
      guard !people.isEmpty else {
        try await app.store.revoke(layer.id)
        try output.result(
          ["revoked": layer.id.uuidString], "the layer \(name) is no longer shared")
        return
      }
      var removed: [LayerParticipant] = []
      for person in people {
        let guest = try participant(person, in: app.store.participants(of: layer.id))
        try await app.store.revoke(layer.id, participant: guest.id)
        removed.append(guest)
      }
      let names = removed.map { printable($0.name.isEmpty ? $0.id : $0.name) }
      try output.result(
        ["removed": removed.map(\.id)],
        "the layer \(name) is no longer shared with \(names.joined(separator: ", "))")
    },
    verb("leave", access: .syncedServer, on: layer) { app, output, layer in
      try await app.store.leave(layer.id)
      try output.result("left", layer.id)
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

  private static func list(_ app: AnnotationsApp, _ output: Output) throws {
    try output.list(
      "layers", app.store.layers.map { Row($0, app.store) },
      [
        .init("ID", .id), .init("  LAYER", .text), .init("ITEMS", .number), .init("WHOSE", .text),
      ], empty: "no layers")
  }

  /// The one guest with a name, or with the beginning of an ID.
  private static func participant(
    _ word: String, in people: [LayerParticipant]
  ) throws(ToolError) -> LayerParticipant {
    let found = people.filter {
      !$0.isOwner && ($0.id.hasPrefix(word) || (!$0.name.isEmpty && $0.name == word))
    }
    guard found.count == 1 else {
      throw ToolError("\(quoted(word)) is not in this share; see layer list --json")
    }
    return found[0]
  }
}
