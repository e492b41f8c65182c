import SQLite

/// The floor under a server: it takes notes as JSON and hands them out as JSON, one upsert and one
/// feed, and no rules at all.
///
/// Belongs to one thread at a time.
final class SpikeServer {
  /// The storage of the notes.
  enum Store {
    case memory([SpikeRecord?])
    /// Rows by the number of their change; what was there before stays.
    case file(Connection)
  }

  private var store: Store
  private var places: [String: Int] = [:]
  private var sequence = 0

  /// Keeps everything in memory.
  init() { store = .memory([]) }

  /// Keeps everything in a file, on the disk after each request.
  init(path: String) throws {
    let connection = try Connection(path: path)
    try connection.useWriteAheadLog()
    try connection.execute("CREATE TABLE notes (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    store = .file(connection)
  }

  /// Takes a page of notes and answers with the sequence number reached.
  func push(_ body: [UInt8]) throws -> [UInt8] {
    let notes = SpikeJSON.read(body).records
    switch store {
    case .memory(var rows):
      store = .memory([])
      for note in notes {
        rows.append(note)
        if let old = places.updateValue(rows.count - 1, forKey: note.name) { rows[old] = nil }
      }
      sequence = rows.count
      store = .memory(rows)
    case .file(let connection):
      try connection.transaction {
        for note in notes {
          var bytes: [UInt8] = []
          bytes.reserveCapacity(400)
          SpikeJSON.append(note, to: &bytes)
          sequence += 1
          try connection.run(
            "INSERT INTO notes (sequence, body) VALUES (?, ?)",
            [.integer(Int64(sequence)), .blob(bytes)])
          places[note.name] = sequence
        }
      }
    }
    return acknowledgement(of: notes)
  }

  /// Each name with its new tag.
  private func acknowledgement(of notes: [SpikeRecord]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(notes.count * 40)
    bytes.append(contentsOf: #"{"records":["#.utf8)
    for (index, note) in notes.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: #"{"recordName":"#.utf8)
      SpikeJSON.append(note.name, to: &bytes)
      bytes.append(contentsOf: #","recordChangeTag":"#.utf8)
      SpikeJSON.append(sequence - notes.count + index + 1, to: &bytes)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(contentsOf: "]}".utf8)
    return bytes
  }

  /// At most 400 notes that changed after `token`.
  func pull(after token: Int) throws -> [UInt8] {
    switch store {
    case .memory(let rows):
      var notes: [SpikeRecord] = []
      notes.reserveCapacity(400)
      var place = token
      while place < rows.count, notes.count < 400 {
        if let note = rows[place] { notes.append(note) }
        place += 1
      }
      return SpikeJSON.page(notes, token: place)
    case .file(let connection):
      var last = token
      var bytes = Array(#"{"token":0000000000,"records":["#.utf8)
      var isFirst = true
      _ = try connection.rows(
        "SELECT sequence, body FROM notes WHERE sequence > ? ORDER BY sequence LIMIT 400",
        [.integer(Int64(token))]
      ) { row in
        last = Int(try row.integer(0))
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(contentsOf: try row.blob(1))
      }
      bytes.append(contentsOf: "]}".utf8)
      let digits = String(last).utf8
      bytes.replaceSubrange((19 - digits.count)..<19, with: digits)
      return bytes
    }
  }
}

/// The device of the spike: writes and reads JSON and knows who is next.
enum SpikeClient {
  /// Sends all notes, 400 at a time.
  static func push(_ notes: [SpikeRecord], _ send: ([UInt8]) throws -> [UInt8]) throws {
    for start in stride(from: 0, to: notes.count, by: 400) {
      let page = SpikeJSON.page(notes[start..<min(start + 400, notes.count)], token: 0)
      keep(acknowledged(try send(page)))
    }
  }

  /// Everything after `token`, and how many notes that were.
  static func pull(_ fetch: (Int) throws -> [UInt8]) throws -> Int {
    var token = 0
    var kept: [String: SpikeRecord] = [:]
    while true {
      let page = SpikeJSON.read(try fetch(token))
      if page.records.isEmpty { return kept.count }
      for note in page.records { kept[note.name] = note }
      token = page.token
    }
  }

  /// The names in an acknowledgement with their tags.
  private static func acknowledged(_ bytes: [UInt8]) -> [(String, Int)] {
    var found: [(String, Int)] = []
    found.reserveCapacity(400)
    let quote = UInt8(ascii: "\"")
    var parts: [ArraySlice<UInt8>] = []
    parts.reserveCapacity(8)
    var start = 0
    for (index, byte) in bytes.enumerated() {
      if byte == quote {
        parts.append(bytes[start..<index])
        start = index + 1
      } else if byte == UInt8(ascii: "}") {
        if parts.count >= 4 {
          let tag = bytes[start..<index].reduce(0) {
            $1 >= 0x30 && $1 <= 0x39 ? $0 * 10 + Int($1) - 0x30 : $0
          }
          found.append((String(decoding: parts[parts.count - 3], as: UTF8.self), tag))
        }
        parts.removeAll(keepingCapacity: true)
        start = index + 1
      }
    }
    return found
  }
}
