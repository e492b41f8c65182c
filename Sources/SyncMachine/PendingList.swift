/// Names with the kinds of their changes, in the order they were added, packed into bytes.
///
/// The list consists of chunks, so that a copy takes constant time and the first change after it
/// copies one chunk. The head of an entry is stored directly before its name, because the search
/// for a name mostly waits for memory. The position of an entry stays the same until the list is
/// rebuilt.
struct PendingList: Sendable {
  /// The head of an entry.
  struct Entry: Sendable {
    /// The flags of an entry.
    struct Marks: OptionSet, Sendable {
      let rawValue: UInt8

      /// It was removed or settled; its position is not used again until the list is rebuilt.
      static let vacant = Marks(rawValue: 1)
      /// It was taken for a request.
      static let inFlight = Marks(rawValue: 2)
      /// It is not pending again when its request fails for now.
      static let mayNotReturn = Marks(rawValue: 4)
      /// A newer change of the same name is pending while this one is in flight.
      static let superseded = Marks(rawValue: 8)
    }

    var length: Int
    var group: UInt32
    var kind: ChangeKind
    var marks: Marks = []

    var isPending: Bool { marks.isDisjoint(with: [.vacant, .inFlight]) }
    /// Whether it is stored for a restart.
    var isUnsettled: Bool { marks.isDisjoint(with: [.vacant, .mayNotReturn, .superseded]) }

    /// The number of bytes before a name: its length, its group, the kind and the marks.
    static let headLength = 16

    /// The number of bytes of the entry with its name, rounded up to whole units.
    var stride: Int { Self.headLength + (length + 3) / 4 * 4 }

    init(length: Int, group: UInt32, kind: ChangeKind) {
      self.length = length
      self.group = group
      self.kind = kind
    }

    /// The entry that begins at `offset`.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      length = bytes.loadUnaligned(fromByteOffset: offset, as: Int.self)
      group = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
      kind = bytes[offset + 12] == ChangeKind.save.rawValue ? .save : .delete
      marks = Marks(rawValue: bytes[offset + 13])
    }
  }

  /// A sequence of entries.
  private struct Chunk: Sendable {
    var bytes: [UInt8] = []
    var count = 0
    var alive = 0
  }

  /// What the offsets of entries are counted in, in bytes.
  private static let unit = 4
  /// A chunk takes no further entry from this many bytes on.
  private static let chunkLength = 65_536
  private static let unitsOfChunk = chunkLength / unit

  private var chunks: [Chunk] = []
  /// How many chunks there were before the first.
  private var base = 0
  /// How many entries are not vacant.
  private(set) var alive = 0
  /// How many entries take up room.
  private(set) var held = 0
  /// How many chunks at the front hold nothing any more.
  private var emptied = 0

  /// The number of the next place.
  var endPosition: Int {
    guard let last = chunks.last else { return base * Self.unitsOfChunk }
    let number = base + chunks.count
    return last.bytes.count >= Self.chunkLength
      ? number * Self.unitsOfChunk
      : (number - 1) * Self.unitsOfChunk + last.bytes.count / Self.unit
  }

  /// Which chunk holds a place, and at which byte.
  private func address(of position: Int) -> (chunk: Int, offset: Int) {
    (position / Self.unitsOfChunk - base, position % Self.unitsOfChunk * Self.unit)
  }

  /// The entry at a place that is in use; its length can't be set.
  subscript(position: Int) -> Entry {
    get {
      let (chunk, offset) = address(of: position)
      return chunks[chunk].bytes.withUnsafeBytes { Entry($0, at: offset) }
    }
    set {
      let (chunk, offset) = address(of: position)
      chunks[chunk].bytes.withUnsafeMutableBytes {
        $0.storeBytes(of: newValue.group, toByteOffset: offset + 8, as: UInt32.self)
      }
      chunks[chunk].bytes[offset + 12] = newValue.kind.rawValue
      chunks[chunk].bytes[offset + 13] = newValue.marks.rawValue
    }
  }

  /// The bytes of the name at a place that is in use.
  func withName<Value>(
    at position: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value
  ) -> Value {
    let (chunk, offset) = address(of: position)
    return chunks[chunk].bytes.withUnsafeBytes { bytes in
      let length = bytes.loadUnaligned(fromByteOffset: offset, as: Int.self)
      let start = offset + Entry.headLength
      let name = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
      return name.withMemoryRebound(to: UInt8.self) { body($0) }
    }
  }

  /// The name at a place that is in use.
  func name(at position: Int) -> String {
    withName(at: position) { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the entry at a place has this name, belongs to a group that `canonicalGroups` maps to
  /// `canonical`, and is in flight or pending.
  func matches(
    _ position: Int, _ name: UnsafeBufferPointer<UInt8>, _ canonical: UInt32,
    of canonicalGroups: [UInt32], isInFlight: Bool
  ) -> Bool {
    let (chunk, offset) = address(of: position)
    return chunks[chunk].bytes.withUnsafeBytes { bytes in
      let entry = Entry(bytes, at: offset)
      guard entry.length == name.count, canonicalGroups[Int(entry.group)] == canonical,
        entry.marks.contains(.inFlight) == isInFlight
      else { return false }
      let start = offset + Entry.headLength
      return PendingIndex.areEqual(
        UnsafeRawBufferPointer(rebasing: bytes[start..<(start + name.count)]),
        UnsafeRawBufferPointer(name))
    }
  }

  /// Adds an entry at the end; answers its place.
  mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, group: UInt32, kind: ChangeKind
  ) -> Int {
    let position = endPosition
    if position % Self.unitsOfChunk == 0 { beginChunk() }
    let last = chunks.count - 1
    let entry = Entry(length: name.count, group: group, kind: kind)
    var head = (UInt64(name.count), group, kind.rawValue, UInt8(0), UInt16(0))
    withUnsafeBytes(of: &head) { chunks[last].bytes.append(contentsOf: $0) }
    chunks[last].bytes.append(contentsOf: name)
    for _ in (Entry.headLength + name.count)..<entry.stride { chunks[last].bytes.append(0) }
    chunks[last].count += 1
    chunks[last].alive += 1
    alive += 1
    held += 1
    return position
  }

  private mutating func beginChunk() {
    var chunk = Chunk()
    // A list of few entries stays small.
    if !chunks.isEmpty { chunk.bytes.reserveCapacity(Self.chunkLength + 64) }
    chunks.append(chunk)
    let last = chunks.count - 2
    if last >= 0, chunks[last].alive == 0 { empty(last) }
  }

  /// Gives up the place of an entry.
  mutating func vacate(_ position: Int) {
    let (chunk, offset) = address(of: position)
    chunks[chunk].bytes[offset + 13] = Entry.Marks.vacant.rawValue
    chunks[chunk].alive -= 1
    alive -= 1
    // The last one says where the next place is.
    if chunks[chunk].alive == 0, chunk < chunks.count - 1 { empty(chunk) }
  }

  /// Lets go what a chunk holds, of which nothing is alive.
  private mutating func empty(_ chunk: Int) {
    held -= chunks[chunk].count
    chunks[chunk] = Chunk()
    while emptied < chunks.count - 1, chunks[emptied].bytes.isEmpty { emptied += 1 }
    guard emptied > 16, emptied > chunks.count / 2 else { return }
    chunks.removeFirst(emptied)
    base += emptied
    emptied = 0
  }

  /// Calls `body` with each place in use and its entry, in order, until it answers false.
  func forEach(_ body: (Int, Entry) -> Bool) {
    for number in chunks.indices.dropFirst(emptied) where chunks[number].alive > 0 {
      let first = (base + number) * Self.unitsOfChunk
      let goesOn = chunks[number].bytes.withUnsafeBytes { bytes in
        var offset = 0
        while offset < bytes.count {
          let entry = Entry(bytes, at: offset)
          if !entry.marks.contains(.vacant), !body(first + offset / Self.unit, entry) {
            return false
          }
          offset += entry.stride
        }
        return true
      }
      guard goesOn else { return }
    }
  }
}
