import CloudProtocol
import Records
import Testing
import WebServices

/// One who writes and one who reads.
struct RoundTrip {
  var name: String
  var writer: Notation
  var reader: Notation

  /// Server to client, client to server, and two who know no user, in every database.
  static func all(isExact: Bool) -> [RoundTrip] {
    DatabaseScope.allCases.flatMap { database in
      func notation(_ user: UserID?) -> Notation {
        Notation(container: "iCloud.test", database: database, user: user, isExact: isExact)
      }
      let (server, client) = (notation(UserID("_alice")), notation(nil))
      return [
        RoundTrip(name: "\(database), to the client", writer: server, reader: client),
        RoundTrip(name: "\(database), to the server", writer: client, reader: server),
        RoundTrip(name: "\(database), without a user", writer: client, reader: client),
      ]
    }
  }

  /// Writes so many values, sends them as bytes, reads them, and records what goes wrong.
  ///
  /// Values count as equal when they are by their own lights, and also look alike byte by byte:
  /// equal texts may be spelled differently, and what is not a number equals nothing.
  static func check<Value: Hashable>(
    isExact: Bool, count: Int, _ make: (inout Sampler) -> Value,
    write: (Notation, Value) -> JSON, read: (Notation, JSON) throws -> Value?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var faults: [String] = []
    for trip in all(isExact: isExact) {
      for seed in 0..<UInt64(count) {
        var sampler = Sampler(seed: seed, isPlain: !isExact, database: trip.writer.database)
        let value = make(&sampler)
        let bytes = write(trip.writer, value).bytes
        let text = String(decoding: bytes, as: UTF8.self)
        var fault: String?
        do {
          let found = try read(trip.reader, try JSON(parsing: bytes))
          if !isSame(found, value, looks: seed % 8 == 0) {
            fault = found.map { difference("\($0)", "\(value)") } ?? "nothing"
          }
        } catch { fault = "\(error)" }
        if !isExact, text.contains(Notation.extra) { fault = "an extra member" }
        guard let fault else { continue }
        faults.append("\(trip.name), seed \(seed): \(fault)\nin \(text.prefix(500))")
      }
    }
    guard let first = faults.first else { return }
    Issue.record("\(faults.count) faults, the first: \(first)", sourceLocation: sourceLocation)
  }

  /// Whether two values are the same; looking takes ten times as long as comparing.
  static func isSame<Value: Hashable>(_ first: Value?, _ second: Value, looks: Bool) -> Bool {
    guard let first else { return false }
    // Lists are equal to themselves, even where their members are not.
    if first == second, !looks { return true }
    return "\(first)".utf8.elementsEqual("\(second)".utf8)
  }

  /// What two texts look like around the place where they begin to differ.
  static func difference(_ first: String, _ second: String) -> String {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    var place = 0
    while place < min(first.count, second.count), first[place] == second[place] { place += 1 }
    let start = max(0, place - 80)
    func part(_ text: [UInt8]) -> String {
      String(decoding: text.dropFirst(start).prefix(250), as: UTF8.self)
    }
    return "\(part(first))\nwas \(part(second))"
  }
}
