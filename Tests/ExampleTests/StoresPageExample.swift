import CloudSync
import CommandLineKit
import Foundation
import SyncSupport

@testable import StoresTool

// The example of the page of the tool `stores`, which is compiled but not run, because the help has
// no section of that store. A rule compares it with the page.

/// A store of notes, as far as the example needs it.
final class NoteStore: Sendable {
  struct Note: Sendable {
    let id: String
    let text: String
    let author: String
  }

  let notes: [Note] = []
  let waiting = 0

  init(directory: URL, container: CKContainer) throws {}

  func start() throws {}
  func sync() async throws {}
  func stop() async {}

  @discardableResult
  func add(_ id: String, _ text: String) throws -> Note { Note(id: id, text: text, author: "") }
}

typealias Note = NoteStore.Note

final class NotesApp: StoreApp {
  static let name = "notes"  // its folder is data/notes of a device; also its key in --json
  let store: NoteStore

  init(_ place: AppPlace) throws {
    store = try NoteStore(directory: place.directory, container: place.container())
  }

  var inventory: [(count: Int, noun: String)] { [(store.notes.count, "note")] }
  var unsent: Int { store.waiting }
  func start() throws { try store.start() }
  func sync() async throws -> SyncReport {
    try await store.sync()
    return SyncReport(["notes": store.notes.count], "notes: \(count(store.notes.count, "note"))")
  }
  func stop() async { await store.stop() }
  var seen: RecordTable { RecordTable(store.notes.map { ("Note/\($0.id)", $0.text) }) }
  var traces: Traces { Traces(names: store.notes.map(\.id), texts: store.notes.map(\.text)) }
}

extension Row {
  init(_ note: Note) {
    self.init(
      ["id": note.id, "text": note.text, "author": note.author],  // for --json; omits nil
      [.init(note.id, .dim), .init(note.text)])  // the cells of a table
  }
}

private let verb = Verbs<NotesApp>()

extension Store {
  static let notes = Store(
    "notes",
    watching: Watching<NotesApp>(noun: "note") { app in
      app.store.notes.map { .init($0.id, Row($0)) }
    },
    act: DemoAct { stage in
      stage.begin("notes: written on the phone, read on the desk")
      let (phone, desk) = try await stage.both(NotesApp.self)
      try phone.app.store.add("A", "first")
      try await stage.exchange(phone, desk) { count($0.store.notes.count, "note") }
      stage.compare(phone, desk)
    } addItem: { name, device in
      try device.app(NotesApp.self).store.add(name, name)
    }
  ) {
    verb("add", .word("the note's name"), .text) { app, output, name, text in
      let note = try app.store.add(name, try text?.read() ?? "")
      try output.result(Row(note).document, "wrote \(note.id)")
    }
    verb("list") { app, output in
      try output.list(
        "notes", app.store.notes.map { Row($0) }, [.init("ID", .id), .init("TEXT", .text)],
        empty: "no notes")
    }
  }
}
