import Synchronization

/// Something that is made when it is first wanted, by whoever comes first.
final class OnceMade<Value: Sendable>: Sendable {
  private let made = Mutex<Value?>(nil)

  /// The value; made by `make` when there is none yet.
  func get(_ make: () throws -> Value) throws -> Value {
    try made.withLock { made throws -> Value in
      if let made { return made }
      let new = try make()
      made = new
      return new
    }
  }
}
