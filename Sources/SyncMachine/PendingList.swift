/// Names and what is to happen to them, in the order they were added, packed into bytes.
///
/// The list is kept in chunks, so that a copy that is handed out costs nothing, and a change after
/// it copies one chunk. A place in the list has a number that stays the same for as long as the
/// list is not built anew.
struct PendingList: Sendable {
  /// What an entry is besides its name.
  struct Entry: Sendable {
    /// What is so or not about an entry.
    struct Marks: OptionSet, Sendable {
      let rawValue: UInt8

      /// It was removed or settled, and only its place is left.
      static let vacant = Marks(rawValue: 1)
      /// It was taken for a request.
      static let underWay = Marks(rawValue: 2)
      /// It does not go back to waiting when its request fails for now.
      static let mayNotReturn = Marks(rawValue: 4)
      /// A newer change waits for the same name while it is under way.
      static let superseded = Marks(rawValue: 8)
    }

    /// Where the name ends among the names of its chunk.
    var end: Int
    var group: UInt32
    var kind: ChangeKind
    var marks: Marks = []

    var isWaiting: Bool { marks.isDisjoint(with: [.vacant, .underWay]) }
    /// Whether it has to be remembered across a restart.
    var isUnsettled: Bool { marks.isDisjoint(with: [.vacant, .mayNotReturn, .superseded]) }
  }

  /// Some entries beside each other.
  struct Chunk: Sendable {
    var names: [UInt8] = []
    var entries: [Entry] = []
    var alive = 0

    func range(of index: Int) -> Range<Int> {
      (index == 0 ? 0 : entries[index - 1].end)..<entries[index].end
    }
  }

  /// How many entries a chunk takes.
  static let chunkSize = 512

  private(set) var chunks: [Chunk] = []
  /// How many chunks there were before the first.
  private(set) var base = 0
  /// How many entries are not vacant.
  private(set) var alive = 0
  /// How many entries take up room.
  private(set) var held = 0
  /// How many chunks at the front hold nothing any more.
  private var emptied = 0

  /// The number of the next place.
  var endPosition: Int {
    guard let last = chunks.last else { return base * Self.chunkSize }
    return (base + chunks.count - 1) * Self.chunkSize + last.entries.count
  }

  /// The entry at a place that is in use.
  subscript(position: Int) -> Entry {
    get { chunks[position / Self.chunkSize - base].entries[position % Self.chunkSize] }
    set { chunks[position / Self.chunkSize - base].entries[position % Self.chunkSize] = newValue }
  }

  /// The bytes of the name at a place that is in use.
  func withName<Value>(
    at position: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value
  ) -> Value {
    let chunk = chunks[position / Self.chunkSize - base]
    let range = chunk.range(of: position % Self.chunkSize)
    return chunk.names.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  /// The name at a place that is in use.
  func name(at position: Int) -> String {
    withName(at: position) { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the entry at a place has this name and group, and is under way or waits.
  func matches(
    _ position: Int, _ name: UnsafeBufferPointer<UInt8>, _ group: UInt32, isUnderWay: Bool
  ) -> Bool {
    chunks.withUnsafeBufferPointer { chunks in
      let number = position / Self.chunkSize - base
      let index = position % Self.chunkSize
      let range = chunks[number].entries.withUnsafeBufferPointer { entries -> Range<Int>? in
        let entry = entries[index]
        guard entry.group == group, entry.marks.contains(.underWay) == isUnderWay else {
          return nil
        }
        return (index == 0 ? 0 : entries[index - 1].end)..<entry.end
      }
      guard let range, range.count == name.count else { return false }
      return chunks[number].names.withUnsafeBytes { names in
        PendingIndex.areEqual(
          UnsafeRawBufferPointer(rebasing: names[range]), UnsafeRawBufferPointer(name))
      }
    }
  }

  /// Adds an entry at the end; answers its place.
  mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, group: UInt32, kind: ChangeKind
  ) -> Int {
    let position = endPosition
    if position % Self.chunkSize == 0 { beginChunk() }
    let last = chunks.count - 1
    chunks[last].names.append(contentsOf: name)
    chunks[last].entries.append(
      Entry(end: chunks[last].names.count, group: group, kind: kind))
    chunks[last].alive += 1
    alive += 1
    held += 1
    return position
  }

  private mutating func beginChunk() {
    var chunk = Chunk()
    if let last = chunks.indices.last {
      let count = chunks[last].names.count
      // What the growing array has too much stays for as long as the chunk does.
      if chunks[last].names.capacity > count + count / 4 {
        chunks[last].names = Array(chunks[last].names[...])
      }
      chunk.entries.reserveCapacity(Self.chunkSize)
      chunk.names.reserveCapacity(count)
    }
    chunks.append(chunk)
  }

  /// Gives up the place of an entry.
  mutating func vacate(_ position: Int) {
    let number = position / Self.chunkSize - base
    chunks[number].entries[position % Self.chunkSize].marks = .vacant
    chunks[number].alive -= 1
    alive -= 1
    guard chunks[number].alive == 0, chunks[number].entries.count == Self.chunkSize else { return }
    held -= Self.chunkSize
    chunks[number] = Chunk()
    while emptied < chunks.count - 1, chunks[emptied].entries.isEmpty { emptied += 1 }
    guard emptied > 16, emptied > chunks.count / 2 else { return }
    chunks.removeFirst(emptied)
    base += emptied
    emptied = 0
  }

  /// Calls `body` with each place in use and its entry, in order, until it answers false.
  func forEach(_ body: (Int, Entry) -> Bool) {
    for (number, chunk) in chunks.enumerated().dropFirst(emptied) where chunk.alive > 0 {
      let first = (base + number) * Self.chunkSize
      for (index, entry) in chunk.entries.enumerated() where !entry.marks.contains(.vacant) {
        guard body(first + index, entry) else { return }
      }
    }
  }
}
