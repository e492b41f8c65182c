extension DiskImage {
  /// The number of unsynchronized changes, each of which may survive a power cut or not.
  package var unsyncedPieceCount: Int {
    unsyncedNames.count
      + files.values.reduce(0) {
        $0 + $1.unsynced.reduce(0) { $0 + DiskImage.pieces(of: $1).count }
      }
  }

  /// The contents after a power cut; the seed decides which unsynchronized changes survive.
  package func afterCrash(seed: UInt64) -> DiskImage {
    var survival = CrashSurvival(seed: seed)
    return afterCrash(&survival)
  }

  /// The contents after a power cut if exactly the changes with a set bit in `pieces` survive.
  ///
  /// Bit 0 is the oldest name, the bits of contents follow, file by file.
  package func afterCrash(pieces: UInt64) -> DiskImage {
    var survival = CrashSurvival(pieces: pieces)
    return afterCrash(&survival)
  }

  private func afterCrash(_ survival: inout CrashSurvival) -> DiskImage {
    survival.range = changeRange
    var image = DiskImage()
    var names = durableNames
    for (number, change) in unsyncedNames where survival.survives(number) {
      DiskImage.apply(change, to: &names)
    }
    var kept: Set<Int> = []
    for (_, inode) in names.sorted(by: { $0.key < $1.key }) where kept.insert(inode).inserted {
      guard let file = files[inode] else { continue }
      let bytes = survival.content(of: file)
      image.files[inode] = File(cached: bytes, durable: bytes)
    }
    image.names = names
    image.durableNames = names
    image.continueNumbers(of: self)
    return image
  }

  private var changeRange: ClosedRange<Int>? {
    let numbers = unsyncedNames.map(\.number) + files.values.flatMap { $0.unsynced.map(\.number) }
    guard let first = numbers.min(), let last = numbers.max() else { return nil }
    return first...last
  }

  /// The steps in which a disk does a change: the new length, then sector by sector.
  static func pieces(of change: (number: Int, change: ContentChange)) -> [ContentChange] {
    guard case .write(let offset, let bytes) = change.change else { return [change.change] }
    var pieces: [ContentChange] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + sectorSize - (offset + start) % sectorSize)
      pieces.append(.write(offset: offset + start, bytes: Array(bytes[start..<end])))
      start = end
    }
    return pieces
  }
}

/// Decides, piece by piece, what survives a power cut.
struct CrashSurvival {
  private enum Rule {
    case nothing
    case everything
    /// All that happened before one moment, and a part of what was being written then.
    case before(fraction: Double)
    /// Each piece by itself, with this probability.
    case pieces(Double)
    /// The bits say which.
    case bits(UInt64)
  }

  private let rule: Rule
  private var random: SeededRandom
  private var index: UInt64 = 0
  /// The numbers of all unsynced changes.
  var range: ClosedRange<Int>?
  /// The content decided on last.
  private(set) var lastContent = FileBytes()

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    rule =
      switch random.below(10) {
      case 0: .nothing
      case 1: .everything
      case 2, 3, 4: .before(fraction: random.fraction())
      case 5: .pieces(0.1)
      case 6: .pieces(0.9)
      default: .pieces(0.5)
      }
  }

  init(pieces: UInt64) {
    random = SeededRandom(seed: pieces)
    rule = .bits(pieces)
  }

  /// Whether a whole change survives, or a piece of one.
  mutating func survives(_ number: Int) -> Bool {
    switch rule {
    case .nothing: return false
    case .everything: return true
    case .before: return number < moment
    case .pieces(let probability): return random.chance(probability)
    case .bits(let bits):
      defer { index += 1 }
      return index < 64 && bits >> index & 1 == 1
    }
  }

  private var moment: Int {
    guard case .before(let fraction) = rule, let range else { return 0 }
    return range.lowerBound + Int(Double(range.count) * fraction)
  }

  mutating func content(of file: DiskImage.File) -> FileBytes {
    var content = file.durable
    if case .before = rule {
      for change in file.unsynced { apply(upTo: change, to: &content) }
    } else {
      for (piece, survives) in decided(file.unsynced) {
        if survives {
          DiskImage.apply(piece, to: &content)
        } else if case .write(let offset, let bytes) = piece,
          case .pieces = rule, offset + bytes.count > content.count, random.chance(0.25)
        {
          // The length is kept elsewhere than the bytes and may be there without them.
          content.resize(to: offset + bytes.count)
        }
      }
    }
    lastContent = content
    return content
  }

  /// The pieces of some changes, and which of them survive.
  ///
  /// A sector is written as it stands in memory at one moment: a later write to it comes with all
  /// earlier ones.
  private mutating func decided(
    _ changes: [(number: Int, change: DiskImage.ContentChange)]
  ) -> [(piece: DiskImage.ContentChange, survives: Bool)] {
    var pieces: [(piece: DiskImage.ContentChange, survives: Bool)] = []
    for change in changes {
      for piece in DiskImage.pieces(of: change) { pieces.append((piece, survives(change.number))) }
    }
    var written: Set<Int> = []
    for index in pieces.indices.reversed() {
      guard case .write(let offset, _) = pieces[index].piece else { continue }
      let sector = offset / DiskImage.sectorSize
      if pieces[index].survives { written.insert(sector) }
      pieces[index].survives = written.contains(sector)
    }
    return pieces
  }

  /// Applies what came before the moment of the cut, and a part of what was written at it.
  private mutating func apply(
    upTo change: (number: Int, change: DiskImage.ContentChange), to content: inout FileBytes
  ) {
    if change.number < moment {
      DiskImage.apply(change.change, to: &content)
    } else if change.number == moment, case .write(let offset, let bytes) = change.change {
      content.write(bytes[..<random.below(bytes.count + 1)], at: offset)
    }
  }
}
