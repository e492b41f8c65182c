import Foundation
import SimulationSupport

/// The texts of hostile requests, from `Data/HostileTexts.json`.
///
/// `⟨x×9⟩` stands for nine times `x`, `⟨x×?9⟩` for a random number of times below nine.
struct HostileTexts: Decodable, Sendable {
  let texts: [String]
  /// The member names of requests.
  let names: [String]
  /// Bodies that are not JSON or too much of it, one scalar for each byte.
  let bodies: [String]
  let pathParts: [String]
  let methods: [String]
  let hosts: [String]
  let fields: [String]
  let requestLines: [String]
  let headers: [String]
  let framings: [String]
  let chunks: [String]

  /// One of `choices` with its repetitions written out.
  func pick(_ choices: [String], _ random: inout SeededRandom) -> String {
    var text = random.pick(choices)
    while text.contains("⟨"), let match = text.firstMatch(of: /⟨([^×]*)×(\??)(\d+)⟩/) {
      let (_, part, mark, number) = match.output
      let most = Int(number) ?? 0
      let count = mark.isEmpty ? most : random.below(most)
      text.replaceSubrange(match.range, with: String(repeating: String(part), count: count))
    }
    return text
  }

  /// One of the bodies.
  func body(_ random: inout SeededRandom) -> [UInt8] {
    pick(bodies, &random).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }
}

extension SeededRandom {
  /// Whether something happens that happens `percent` times in a hundred.
  mutating func happens(_ percent: Int) -> Bool { below(100) < percent }

  /// Any bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 11) }
  }

  /// `text` with some of its bytes damaged.
  mutating func damaged(_ text: String) -> String {
    String(decoding: damaged(Array(text.utf8)), as: UTF8.self)
  }

  /// `bytes` with some of them changed, removed, repeated or inserted.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) {
      guard !bytes.isEmpty else { break }
      let place = below(bytes.count)
      let run = place..<min(bytes.count, place + 1 + below(16))
      switch below(6) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
      case 1: bytes[place] ^= UInt8(1 << below(8))
      case 2: bytes.remove(at: place)
      case 3: bytes.insert(pick([0, 9, 10, 13, 32, 34, 37, 44, 58, 91, 92, 123, 255]), at: place)
      case 4: bytes.insert(contentsOf: Array(bytes[run]), at: place)
      default: bytes.removeSubrange(run)
      }
    }
    return bytes
  }
}
