import Foundation

/// How a result gets its ID.
public enum ResultIdentity: Hashable, Sendable {
  /// From the game and the puzzle: the same puzzle pasted twice, or on two devices, is one result.
  case puzzle
  /// By chance: every paste is a result of its own.
  case random

  /// The ID for a puzzle of a game.
  ///
  /// - Parameter puzzle: the puzzle's number, or its day where there is none.
  func id(of game: Game, puzzle: String) -> UUID {
    switch self {
    case .random: return UUID()
    case .puzzle:
      // FNV-1a over 128 bits, marked as a UUID of an own making (version 8).
      var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
      for byte in "\(game.id.uuidString)|\(puzzle)".utf8 {
        hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
      }
      var bytes = withUnsafeBytes(of: hash.bigEndian) { Array($0) }
      bytes[6] = bytes[6] & 0x0f | 0x80
      bytes[8] = bytes[8] & 0x3f | 0x80
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
  }
}
