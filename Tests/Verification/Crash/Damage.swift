import CloudSync
import Foundation
import SimulationSupport

/// Changes the bytes of a state log in every small way and in many random ones.
struct Damage {
  private var tried = 0
  private var refused = 0
  private var harmless = 0
  private var shortened = 0
  private var wrong: [String] = []
  private let original: [UInt8]
  private let contents: StateStoreContents

  /// Whether no damage went unseen.
  var isGood: Bool { wrong.isEmpty }

  /// The figures, and what went unseen.
  var text: String {
    "\(tried) damaged files, \(refused) refused, \(harmless) with nothing lost, \(shortened) cut "
      + "short at a place where a crash may have cut, \(wrong.count) read as something else"
      + wrong.prefix(10).map { "\n  " + $0 }.joined()
  }

  private init() {
    let disk = SimulatedDisk()
    let url = StateStoreSubject.url
    // Bytes without zeros, so that no sector of the original looks as if it had not been written.
    let bytes = { (length: Int, first: Int) in (0..<length).map { UInt8(1 + (first + $0) % 255) } }
    if let store = try? FileStateStore(url: url, disk: disk) {
      try? store.replace(with: bytes(300, 0))
      for entry in 1...6 { try? store.append(bytes(entry * entry * 40, entry)) }
    }
    original = disk.image[url.path] ?? []
    contents = ((try? FileStateStore(url: url, disk: disk).load()) ?? nil) ?? .init()
  }

  /// Everything, with that many random edits of several bytes.
  static func run(edits: Int) -> Damage {
    var damage = Damage()
    let original = damage.original
    guard damage.contents.entries.count == 6 else {
      damage.wrong.append("the original can't be written")
      return damage
    }
    for index in original.indices {
      for bit in 0..<8 {
        var bytes = original
        bytes[index] ^= 1 << UInt8(bit)
        damage.look(at: bytes, "bit \(bit) of byte \(index)")
      }
      damage.look(at: Array(original[..<index]), "\(index) bytes", mayBeShort: true)
    }
    for start in stride(from: 0, to: original.count, by: 512) {
      let end = min(original.count, start + 512)
      var bytes = original
      bytes.replaceSubrange(start..<end, with: [UInt8](repeating: 0, count: end - start))
      damage.look(at: bytes, "zeros from \(start) on", mayBeShort: true)
      damage.look(
        at: Array(original[..<end] + original[start...]), "twice from \(start) on")
    }
    var random = SeededRandom(seed: 1)
    for edit in 0..<edits {
      var bytes = original
      for _ in 0...random.below(8) {
        bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      damage.look(at: bytes, "random edit \(edit)")
    }
    return damage
  }

  /// Reads damaged bytes: they have to be refused untouched, or to mean what they meant before.
  private mutating func look(at bytes: [UInt8], _ what: String, mayBeShort: Bool = false) {
    tried += 1
    var image = DiskImage()
    image[StateStoreSubject.url.path] = bytes
    let disk = SimulatedDisk(image: image)
    do {
      let store = try FileStateStore(url: StateStoreSubject.url, disk: disk)
      let found = try store.load() ?? StateStoreContents()
      if found == contents {
        harmless += 1
      } else if mayBeShort, found.entries == Array(contents.entries.prefix(found.entries.count)),
        found.snapshot == contents.snapshot || found == StateStoreContents()
      {
        shortened += 1
      } else {
        wrong.append(what)
      }
    } catch {
      refused += 1
      if disk.image[StateStoreSubject.url.path] != bytes { wrong.append(what + " was changed") }
    }
  }
}
