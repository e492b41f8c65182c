import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

extension DemoAct {
  /// A picture on a layer, an edit that a person has to decide, and a layer shared with ben.
  static let annotations = DemoAct { stage in
    try await stage.annotate()
    try await stage.decide()
    try await stage.shareLayer()
  } addItem: { name, device in
    let store = try device.app(AnnotationsApp.self).store
    let layer = try store.addLayer(named: name)
    try store.add(.init(title: name, text: name), to: layer.id)
  }
}

extension DemoStage {
  fileprivate mutating func annotate() async throws {
    begin("annotations: pinned on the phone, with a picture")
    let (phone, desk) = try await both(AnnotationsApp.self)
    let store = phone.app.store
    let house = try store.addLayer(named: "House")
    let drafts = input.copied.prefix(60).enumerated().map { number, line in
      AnnotationStore.Draft(
        title: "Note \(number + 1)", text: line, position: [Float(number), 1.5, 0])
    }
    let notes = try store.add(drafts, to: house.id)
    let picture = place.item("generated-picture.ppm")
    try Self.picture.write(to: picture)
    for note in notes.prefix(2) { try store.attach(picture, to: note.id) }
    try FileManager.default.removeItem(at: picture)
    try await sync(phone) {
      "sent \(count($0.store.annotations().count, "annotation")) and one picture"
    }
    try await sync(desk) {
      "received \(count($0.store.annotations().count, "annotation"))"
    }
    let there = desk.app.store.annotations(on: house.id).compactMap {
      $0.content.mediaURL
    }
    let isWhole =
      try there.count == 2 && there.allSatisfy { try Data(contentsOf: $0) == Self.picture }
    check(isWhole, "the picture arrived whole, on both annotations")
    compare(phone, desk)
  }

  fileprivate mutating func decide() async throws {
    begin("annotations: two edits of one title, which a person decides")
    let (phone, desk) = try await both(AnnotationsApp.self)
    let (here, there) = (phone.app.store, desk.app.store)
    guard let note = here.annotations().first(where: { $0.title == "Note 1" })?.id else {
      return check(false, "there is an annotation to edit")
    }
    for store in [here, there] {
      try store.setStrategy(.perField(["title": .manual]).orElse(.lastWriteWins))
    }
    try await offline(phone, desk) {
      try here.edit(note) { $0.title = "Front door" }
      try there.edit(note) {
        $0.title = "Green door"
        $0.scale = 2
      }
    }
    try await settle(phone, desk)
    let conflict = there.conflicts.first
    check(there.conflicts.count == 1, "the desk has one conflict")
    for field in conflict?.fields ?? [] {
      tell(
        "\(field.name): mine \(quoted(field.mine ?? "")), theirs \(quoted(field.theirs ?? "")), "
          + "before \(quoted(field.ancestor ?? ""))")
    }
    if let conflict { try there.resolve(conflict.id, use: .mine) }
    try await settle(desk, phone)
    let decided = here.annotation(note)
    check(decided?.title == "Green door" && decided?.scale == 2, "the decision is everywhere")
    tell("decided on the desk: mine; on the phone it is \(quoted(decided?.title ?? ""))")
    compare(phone, desk)
  }

  fileprivate mutating func shareLayer() async throws {
    begin("annotations: anna shares a layer with ben, and takes it back")
    let (phone, desk) = try await both(AnnotationsApp.self)
    let tablet = try await tablet().with(AnnotationsApp.self)
    let (anna, ben) = (phone.app.store, tablet.app.store)
    _ = try await tablet.app.sync()
    let garden = try anna.addLayer(named: "Garden")
    let tree = try anna.add(.init(title: "Tree", position: [4, 0, 4]), to: garden.id)
    try await anna.sync()
    let url = try await anna.share(garden.id, with: [.email("ben")], mayWrite: true)
    try await ben.accept(url)
    try ben.edit(tree.id) { $0.title = "Apple tree" }
    try ben.comment(on: tree.id, text: "It bears fruit")
    try await ben.sync()
    try await anna.sync()
    let isThere =
      anna.annotation(tree.id)?.title == "Apple tree" && anna.comments(on: tree.id).count == 1
    check(isThere, "anna has what ben wrote")
    tell("ben renames a tree and says something about it; anna has both: \(yesOrNo(isThere))")
    _ = try await anna.share(garden.id, with: [.email("ben")], mayWrite: false)
    try await ben.sync()
    var refusal = "nothing"
    do { try ben.edit(tree.id) { $0.title = "Mine" } } catch { refusal = words(error) }
    check(refusal.contains("to read"), "a reader can't write")
    tell(
      "now he may only read; his next edit: it "
        + refusal.split(separator: " ").dropFirst().joined(separator: " ")
    )
    try await anna.revoke(garden.id)
    try await ben.sync()
    check(ben.layers.isEmpty && ben.annotations().isEmpty, "nothing is left with ben")
    tell("anna takes it back: \(count(ben.annotations().count, "annotation")) left with ben")
    try await settle(phone, desk)
  }

  /// A picture of 32 by 32 points in the format PPM: a red square on green.
  private static var picture: Data {
    var data = Data("P6 32 32 255\n".utf8)
    for point in 0..<(32 * 32) {
      let isInside = (8..<24).contains(point / 32) && (8..<24).contains(point % 32)
      data.append(contentsOf: isInside ? [200, 0, 0] : [0, 160, 0])
    }
    return data
  }
}
