import Records
import Testing

/// The hash that names files.
struct SHA256Tests {
  @Test("The hash of each published test vector matches its digest")
  func hashMatchesPublishedVectors() {
    let longText =
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
      + "lmnopqrsmnopqrstnopqrstu"
    let rows: [(String, String)] = [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (longText, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ]
    for (text, hash) in rows {
      #expect(SHA256.hexadecimal(of: text.utf8) == hash, "\(text.count) characters")
    }
  }

  @Test("Input of each length from 0 to 200 hashes the same at once and in pieces")
  func hashIsIndependentOfPieces() {
    var all = SHA256()
    for length in 0...200 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + length) }
      var whole = SHA256()
      whole.update(bytes)
      var pieces = SHA256()
      var start = 0
      var step = 1
      while start < length {
        let end = min(length, start + step)
        pieces.update(bytes[start..<end])
        (start, step) = (end, step * 3 % 67 + 1)
      }
      if pieces.digest() != whole.digest() { Issue.record("in pieces, \(length) bytes") }
      if whole.digest() != whole.digest() { Issue.record("asking for it changes it") }
      all.update(whole.digest())
    }
    // Worked out with another implementation over the same 201 inputs.
    let found = all.digest().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    #expect(
      found.joined()
        == "e673d33f6940a6d3856d0d305fd88363ae0ba3b96e2411d8ddd5e0dd443f4525")
  }

  @Test("Distances are measured on a sphere, small and large")
  func distancesAreMeasuredOnSphere() {
    func place(_ latitude: Double, _ longitude: Double) -> Location {
      Location(latitude: latitude, longitude: longitude)
    }
    let quarter = 6_371_008.8 * Double.pi / 2
    let rows: [(Location, Location, Double)] = [
      (place(0, 0), place(0, 0), 0), (place(0, 0), place(0, 90), quarter),
      (place(0, 0), place(90, 123), quarter), (place(0, -90), place(0, 90), 2 * quarter),
      (place(-90, 0), place(90, 0), 2 * quarter), (place(0, 179.5), place(0, -179.5), quarter / 90),
      (place(45, 10), place(46, 10), quarter / 90), (place(0, 0), place(0, 0.00001), quarter / 9e6),
      // Paris to New York, by the haversine formula.
      (place(48.8566, 2.3522), place(40.7128, -74.0060), 5837248.9665663745),
    ]
    for (first, second, metres) in rows {
      let found = first.distance(to: second)
      let isNear = (found - metres).magnitude <= max(1e-6, metres * 2e-8)
      #expect(isNear && second.distance(to: first) == found, "\(found) for \(metres)")
    }
    #expect(place(.nan, 0).distance(to: place(0, 0)).isNaN)
    #expect(place(1e300, 0).distance(to: place(0, 0)).isNaN)
  }
}
