/// A code by which people find each other: seven random characters and one that checks them,
/// shown in two halves such as `7KQM-2XPD`.
///
/// The 31 characters leave out 0, O, 1, I and L, which look alike. As 31 is a prime number, the
/// check notices every single wrong character and every two that changed places.
public struct FriendCode: Hashable, Sendable, CustomStringConvertible {
  /// The eight characters without the hyphen, as records hold them.
  public let text: String

  private static let alphabet = Array("23456789ABCDEFGHJKMNPQRSTUVWXYZ".utf8)
  private static let length = 8

  /// Makes a new code.
  ///
  /// - Parameter random: gives random numbers.
  public init(random: () -> UInt64) {
    var values = (1..<Self.length).map { _ in Int(random() % 31) }
    values.append(Self.check(values))
    text = String(decoding: values.map { Self.alphabet[$0] }, as: UTF8.self)
  }

  /// Reads what a person typed; small letters, spaces and hyphens don't matter.
  ///
  /// - Throws: ``FriendCodeError`` that tells what is wrong with it.
  public init(_ typed: String) throws(FriendCodeError) {
    let letters = typed.uppercased().filter { !$0.isWhitespace && !"-–—".contains($0) }
    var values: [Int] = []
    for letter in letters {
      guard let byte = letter.asciiValue, let value = Self.alphabet.firstIndex(of: byte) else {
        throw .character(letter)
      }
      values.append(value)
    }
    guard values.count == Self.length else { throw .length(values.count) }
    guard values.last == Self.check(values.dropLast()) else { throw .typingError }
    text = letters
  }

  /// As people are shown it.
  public var description: String { "\(text.prefix(4))-\(text.suffix(4))" }

  /// Each place has a weight of its own, and none is a multiple of 31 or equal to another.
  private static func check(_ values: some Collection<Int>) -> Int {
    let sum = zip(values, 2...).reduce(0) { $0 + $1.0 * $1.1 }
    return (31 - sum % 31) % 31
  }
}

/// Why a text is no friend code.
public enum FriendCodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It holds a character no code has.
  case character(Character)
  /// It has so many characters instead of eight.
  case length(Int)
  /// A character is wrong, or two changed places.
  case typingError

  /// One sentence for people.
  public var description: String {
    switch self {
    case .character(let character):
      "a friend code never holds “\(character)”: it is made of A to Z and 2 to 9, "
        + "without O, I and L"
    case .length(let count):
      "a friend code has 8 characters, such as 7KQM-2XPD; this one has \(count)"
    case .typingError:
      "there is a typing error in the friend code; compare it with what your friend sees"
    }
  }
}
