/// The content of a file, in pieces that copies share until one of them changes.
struct FileBytes: Sendable, Equatable {
  private static let pieceSize = 4096

  /// All of them `pieceSize` long; what is behind `count` is zero.
  private var pieces: [[UInt8]] = []
  private(set) var count = 0

  init() {}

  init(_ bytes: some Collection<UInt8>) {
    write(Array(bytes)[...], at: 0)
  }

  /// All bytes in one.
  var bytes: [UInt8] {
    var all: [UInt8] = []
    all.reserveCapacity(count + FileBytes.pieceSize)
    for piece in pieces { all += piece }
    all.removeLast(all.count - count)
    return all
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let end = min(count, offset + buffer.count)
    guard offset >= 0, offset < end else { return 0 }
    var position = offset
    while position < end {
      let start = position % FileBytes.pieceSize
      let part = min(end - position, FileBytes.pieceSize - start)
      let target = UnsafeMutableRawBufferPointer(
        rebasing: buffer[(position - offset)..<(position - offset + part)])
      target.copyBytes(from: pieces[position / FileBytes.pieceSize][start..<(start + part)])
      position += part
    }
    return end - offset
  }

  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    if offset + bytes.count > count { resize(to: offset + bytes.count) }
    var rest = bytes
    var position = offset
    while !rest.isEmpty {
      let start = position % FileBytes.pieceSize
      let part = rest.prefix(FileBytes.pieceSize - start)
      pieces[position / FileBytes.pieceSize].replaceSubrange(
        start..<(start + part.count), with: part)
      rest = rest.dropFirst(part.count)
      position += part.count
    }
  }

  /// Takes bytes away from the end, or adds zeros there.
  mutating func resize(to size: Int) {
    let needed = (size + FileBytes.pieceSize - 1) / FileBytes.pieceSize
    if needed < pieces.count { pieces.removeLast(pieces.count - needed) }
    while pieces.count < needed {
      pieces.append([UInt8](repeating: 0, count: FileBytes.pieceSize))
    }
    let start = size % FileBytes.pieceSize
    if size < count, start > 0 {
      for index in start..<FileBytes.pieceSize { pieces[needed - 1][index] = 0 }
    }
    count = size
  }
}
