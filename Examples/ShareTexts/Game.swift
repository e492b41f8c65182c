public import Foundation

/// A daily puzzle whose results this store understands.
///
/// Games are part of the app and never synced; a result carries its game's ID and name. The IDs
/// are fixed for ever: results on the server are found by them.
public struct Game: Hashable, Sendable {
  /// The game's ID, the same on all devices and in all versions.
  public let id: UUID
  /// The name people know.
  public let name: String
  /// What a result's score counts.
  public let scoring: Scoring
  /// The most attempts the game allows; 0 where it sets no limit.
  public let maxAttempts: Int
  /// The day of the game's puzzle number 0, where numbers tell days.
  let dayZero: PuzzleDay?

  /// What a score counts, and so whether fewer or more is better.
  public enum Scoring: Hashable, Sendable {
    /// The attempts used; fewer is better.
    case attempts
    /// The seconds taken; fewer is better.
    case seconds
    /// The hints taken; fewer is better.
    case hints
    /// The points won; more is better.
    case points
  }

  private init(
    _ number: UInt8, _ name: String, _ scoring: Scoring, _ maxAttempts: Int,
    dayZero: PuzzleDay? = nil
  ) {
    id = UUID(
      uuid: (
        0x5A, 0x3E, 0x71, 0xC0, 0x9B, 0x42, 0x4D, 0x17, 0x8E, 0x60, 0x2F, 0x4C, 0x11, 0xD9, 0xA5,
        number
      ))
    self.name = name
    self.scoring = scoring
    self.maxAttempts = maxAttempts
    self.dayZero = dayZero
  }

  /// Wordle: a word in six attempts.
  public static let wordle = Game(
    1, "Wordle", .attempts, 6, dayZero: PuzzleDay(2021, 6, 19))
  /// Connections: four groups of four with up to three mistakes, so at most seven guesses.
  public static let connections = Game(
    2, "Connections", .attempts, 7, dayZero: PuzzleDay(2023, 6, 11))
  /// Strands: words on a theme; hints count.
  public static let strands = Game(
    3, "Strands", .hints, 0, dayZero: PuzzleDay(2024, 3, 3))
  /// The Mini Crossword, for time.
  public static let miniCrossword = Game(4, "Mini Crossword", .seconds, 0)
  /// Spelling Bee: points, with Genius as the goal.
  public static let spellingBee = Game(5, "Spelling Bee", .points, 0)
  /// Quordle: four words in nine attempts.
  public static let quordle = Game(6, "Quordle", .attempts, 9)
  /// Octordle: eight words in thirteen attempts.
  public static let octordle = Game(7, "Octordle", .attempts, 13)
  /// Dordle: two words in seven attempts.
  public static let dordle = Game(8, "Dordle", .attempts, 7)
  /// Nerdle: a calculation in six attempts.
  public static let nerdle = Game(9, "Nerdle", .attempts, 6)
  /// Worldle: a country by its shape, in six attempts.
  public static let worldle = Game(10, "Worldle", .attempts, 6)
  /// Globle: a country on the globe, without a limit.
  public static let globle = Game(11, "Globle", .attempts, 0)
  /// Tradle: a country by what it sells, in six attempts.
  public static let tradle = Game(12, "Tradle", .attempts, 6)
  /// Framed: a film by its stills, in six attempts.
  public static let framed = Game(13, "Framed", .attempts, 6)
  /// Heardle: a song by its beginning, in six attempts.
  public static let heardle = Game(14, "Heardle", .attempts, 6)
  /// Bandle: a song by its instruments, in six attempts.
  public static let bandle = Game(15, "Bandle", .attempts, 6)
  /// Waffle: six crossing words; the score is the swaps left over, as stars.
  public static let waffle = Game(16, "Waffle", .points, 5)
  /// Contexto: a word by its neighbours in meaning, without a limit.
  public static let contexto = Game(17, "Contexto", .attempts, 0)
  /// Queens: crowns on a board, for time.
  public static let queens = Game(18, "Queens", .seconds, 0)
  /// Tango: suns and moons on a board, for time.
  public static let tango = Game(19, "Tango", .seconds, 0)
  /// Zip: one path through a board, for time.
  public static let zip = Game(20, "Zip", .seconds, 0)

  /// Every game there is, in the order of their numbers.
  public static let all: [Game] = [
    wordle, connections, strands, miniCrossword, spellingBee, quordle, octordle, dordle, nerdle,
    worldle, globle, tradle, framed, heardle, bandle, waffle, contexto, queens, tango, zip,
  ]

  /// The game with an ID; `nil` for one this version does not know.
  public static func with(id: UUID) -> Game? {
    all.first { $0.id == id }
  }

  /// The game with a name, in any case; `nil` for one this version does not know.
  public static func named(_ name: String) -> Game? {
    all.first { $0.name.lowercased() == name.lowercased() }
  }
}
