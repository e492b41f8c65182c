/// A value that is made when it is first needed.
actor Once<Value: Sendable> {
  private let make: @Sendable () async throws -> Value
  private var task: Task<Value, any Error>?

  init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

  /// The value.
  var value: Value {
    get async throws {
      let made = task ?? Task { [make] in try await make() }
      task = made
      return try await made.value
    }
  }

  /// Releases the value.
  func forget() { task = nil }
}
