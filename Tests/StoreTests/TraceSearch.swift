import Foundation
import Testing

/// Looks for a text in files, in every form in which a file of ours could hold it: as UTF-8 and
/// UTF-16 of both kinds, and all of these inside Base64, also Base64 inside Base64.
struct TraceSearch {
  private let needles: [Data]

  /// - Parameter text: letters, digits and hyphens, so that no form escapes any of it.
  init(_ text: String) {
    needles = [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian].compactMap {
      text.data(using: $0)
    }
  }

  /// The names of the files below `folder` that hold the text.
  func files(below folder: URL) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
      name.utf8.count > 0 && isIn(Data(name.utf8))
        || FileManager.default.contents(atPath: folder.path + "/" + name).map { isIn($0) } == true
    }.sorted()
  }

  /// Whether `data` holds the text.
  func isIn(_ data: Data, depth: Int = 4) -> Bool {
    if needles.contains(where: { data.range(of: $0) != nil }) { return true }
    guard depth > 0 else { return false }
    return Self.decodedRuns(in: data).contains { isIn($0, depth: depth - 1) }
  }

  /// What every run of Base64 letters stands for; a slash may be escaped as JSON does it.
  private static func decodedRuns(in data: Data) -> [Data] {
    var runs: [Data] = []
    var run: [UInt8] = []
    func finish() {
      if run.count >= 12 {
        let whole = run.count - run.count % 4
        if let decoded = Data(base64Encoded: Data(run[..<whole])) { runs.append(decoded) }
        if whole < run.count {
          let padded = run[whole...] + Array(repeating: UInt8(ascii: "="), count: 4 - run.count % 4)
          if let rest = Data(base64Encoded: Data(run[..<whole] + padded)) { runs.append(rest) }
        }
      }
      run = []
    }
    for byte in data {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        run.append(byte)
      case UInt8(ascii: "\\"): continue
      default: finish()
      }
    }
    finish()
    return runs
  }
}

@Suite("The search for traces")
struct TraceSearchTests {
  /// Proves PB-6.
  @Test("The search finds a text in every form, so an empty result is meaningful")
  func searchFindsTextInEveryForm() throws {
    let secret = "zebra-41"
    let plain = Data("x\(secret)y".utf8)
    let wide = try #require("ab\(secret)".data(using: .utf16LittleEndian))
    struct Box: Encodable { var body: Data }
    func boxed(_ data: Data) throws -> Data { try JSONEncoder().encode(Box(body: data)) }
    let forms = try [
      plain, wide, boxed(plain), boxed(Data([0xff]) + plain), boxed(Data([0xff, 0xfe]) + plain),
      boxed(wide), boxed(boxed(boxed(Data([1]) + plain))),
      boxed(Data(repeating: 0xff, count: 7) + wide),
    ]
    for (number, form) in forms.enumerated() {
      #expect(TraceSearch(secret).isIn(form), "form \(number)")
      #expect(!TraceSearch("zebra-42").isIn(form), "form \(number)")
    }
  }
}
