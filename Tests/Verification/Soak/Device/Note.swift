import CloudSync
import Foundation
import SimulationSupport

/// What a record of the soak says: everything that shows whether a save was lost, was made twice,
/// or was mixed with another.
struct Note: Hashable, Sendable {
  static let recordType = "Note"

  var name: String
  /// The number of saves; each adds one to the version that it is based on.
  var version: Int
  /// The number of edits of each device that the note contains.
  var counts: [Int]
  /// The device of the last save.
  var writer: Int
  /// Whether the writer is about to delete it, so that nobody edits it any more.
  var isEnding = false
  /// The seed of the file's content; 0 for no file.
  var fileSeed = 0

  /// A note nobody saved.
  init(name: String, devices: Int) {
    self.name = name
    version = 0
    counts = Array(repeating: 0, count: devices)
    writer = 0
  }

  /// Reads a record; `nil` when its fields do not belong together.
  init?(_ record: CKRecord) {
    guard let version = record["version"] as? Int64, let counts = record["counts"] as? [Int64],
      let writer = record["writer"] as? Int64, let ending = record["ending"] as? Int64,
      let fileSeed = record["fileSeed"] as? Int64, let text = record["text"] as? String
    else { return nil }
    name = record.recordID.recordName
    self.version = Int(version)
    self.counts = counts.map { Int($0) }
    self.writer = Int(writer)
    isEnding = ending != 0
    self.fileSeed = Int(fileSeed)
    guard text == self.text, (self.fileSeed != 0) == (record["file"] is CKAsset) else { return nil }
  }

  /// Puts the note into a record; its file is put there apart.
  func write(to record: CKRecord) {
    record["version"] = version
    record["counts"] = counts
    record["writer"] = writer
    record["ending"] = isEnding ? 1 : 0
    record["fileSeed"] = fileSeed
    record["text"] = text
  }

  /// A text that no other version has.
  var text: String {
    var random = SeededRandom(seed: UInt64(version) << 8 | UInt64(writer), name: name)
    let count = random.number(in: 3...24)
    let words = (0..<count).map { _ in String(random.next(), radix: 36) }
    return words.joined(separator: " ")
  }

  /// The content of its file.
  var file: Data {
    var random = SeededRandom(seed: UInt64(fileSeed), name: name + " file")
    let count = random.number(in: 100...40_000)
    let words = (0...count / 8).map { _ in random.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
  }
}

extension SeededRandom {
  /// The numbers of a seed and a name.
  init(seed: UInt64, name: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    self.init(seed: seed ^ hash)
  }
}
