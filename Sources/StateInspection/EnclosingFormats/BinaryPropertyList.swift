/// Walks through a binary property list and keeps the runs of bytes in it.
///
/// The system's reader is made for undamaged files; this one takes any bytes: every offset is
/// checked, every object is entered once, and nesting ends at a depth no app needs.
struct BinaryPropertyList {
  static let magic = Array("bplist0".utf8)

  private enum Fault: Error {
    case broken(String)
  }

  private struct Step {
    var object: Int
    var place: [String]
  }

  private static let trailerLength = 32
  private static let longestKey = 1_024

  private let bytes: [UInt8]
  private var offsetSize = 0
  private var referenceSize = 0
  private var objectCount = 0
  private var tableStart = 0
  private(set) var found: [EmbeddedBytes] = []
  /// Where and why the reading is not complete.
  private(set) var fault: String?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads all that can be reached from the top.
  mutating func read() {
    do throws(Fault) {
      try walk(from: readTrailer())
    } catch {
      switch error {
      case .broken(let reason): fault = reason
      }
    }
  }

  /// Answers the object at the top.
  private mutating func readTrailer() throws(Fault) -> Int {
    guard bytes.count >= BinaryPropertyList.trailerLength + 8 else {
      throw .broken("it ends early")
    }
    let trailer = bytes.count - BinaryPropertyList.trailerLength
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    let count = number(at: trailer + 8, size: 8)
    let top = number(at: trailer + 16, size: 8)
    let start = number(at: trailer + 24, size: 8)
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count, let top,
      let start, start < trailer, count <= (trailer - start) / offsetSize, top < count
    else { throw .broken("its table of contents is damaged") }
    objectCount = count
    tableStart = start
    return top
  }

  /// The number of elements of all lists so far, each of which has bytes of its own.
  private var elementCount = 0

  private mutating func walk(from top: Int) throws(Fault) {
    var entered: Set<Int> = []
    var steps = [Step(object: top, place: [])]
    while let step = steps.popLast() {
      let start = try offset(of: step.object)
      guard entered.insert(start).inserted else { continue }
      let marker = bytes[start]
      switch marker >> 4 {
      case 0x4:
        let (first, count) = try extent(at: start)
        guard count <= tableStart - first else { throw .broken("data runs past its end") }
        keep(Array(bytes[first..<(first + count)]), at: step.place)
      case 0x5:
        let (first, count) = try extent(at: start)
        guard count <= tableStart - first else { throw .broken("a text runs past its end") }
        keepText(bytes[first..<(first + count)], at: step.place)
      case 0xa, 0xb, 0xc, 0xd:
        guard step.place.count < EnclosingFormat.deepest else {
          throw .broken("it is nested too deeply")
        }
        try enter(start, isDictionary: marker >> 4 == 0xd, from: step.place, into: &steps)
      default: break
      }
    }
  }

  /// Puts what a list or dictionary holds on the stack, so that the first is taken first.
  private mutating func enter(
    _ start: Int, isDictionary: Bool, from place: [String], into steps: inout [Step]
  ) throws(Fault) {
    let (first, count) = try extent(at: start)
    let width = isDictionary ? 2 * referenceSize : referenceSize
    guard count <= (tableStart - first) / width else { throw .broken("a list runs past its end") }
    elementCount += count
    guard elementCount <= bytes.count else { throw .broken("its lists lie in each other") }
    for index in (0..<count).reversed() {
      let position = first + (isDictionary ? count + index : index) * referenceSize
      guard let object = number(at: position, size: referenceSize), object < objectCount else {
        throw .broken("a list refers to an object that does not exist")
      }
      var name = String(index)
      if isDictionary {
        guard let key = number(at: first + index * referenceSize, size: referenceSize),
          key < objectCount
        else { throw .broken("a dictionary refers to a key that does not exist") }
        name = try text(of: key)
      }
      steps.append(Step(object: object, place: place + [name]))
    }
  }

  private func text(of object: Int) throws(Fault) -> String {
    let start = try offset(of: object)
    let isWide = bytes[start] >> 4 == 0x6
    guard isWide || bytes[start] >> 4 == 0x5 else { return "" }
    let (first, count) = try extent(at: start)
    guard count <= (tableStart - first) / (isWide ? 2 : 1) else {
      throw .broken("a key runs past its end")
    }
    let shown = min(count, BinaryPropertyList.longestKey)
    guard isWide else { return String(decoding: bytes[first..<(first + shown)], as: UTF8.self) }
    let units = (0..<shown).map {
      UInt16(bytes[first + 2 * $0]) << 8 | UInt16(bytes[first + 2 * $0 + 1])
    }
    return String(decoding: units, as: UTF16.self)
  }

  private func offset(of object: Int) throws(Fault) -> Int {
    guard let offset = number(at: tableStart + object * offsetSize, size: offsetSize),
      offset < tableStart
    else { throw .broken("an object lies outside of it") }
    return offset
  }

  /// Where the content of an object begins, which is never behind the table, and its count.
  private func extent(at start: Int) throws(Fault) -> (first: Int, count: Int) {
    let short = Int(bytes[start] & 0xf)
    if short < 0xf { return (start + 1, short) }
    guard start + 1 < tableStart, bytes[start + 1] >> 4 == 0x1 else {
      throw .broken("a length is not a number")
    }
    let size = 1 << Int(bytes[start + 1] & 0xf)
    guard size <= 8, start + 2 + size <= tableStart,
      let count = number(at: start + 2, size: size)
    else { throw .broken("a length is not a number") }
    return (start + 2 + size, count)
  }

  /// A number whose first byte weighs most; `nil` when it is outside of the file or too large.
  private func number(at position: Int, size: Int) -> Int? {
    guard position >= 0, position <= bytes.count - size else { return nil }
    var value: UInt64 = 0
    for byte in bytes[position..<(position + size)] { value = value << 8 | UInt64(byte) }
    return Int(exactly: value)
  }

  private mutating func keep(_ data: [UInt8], at place: [String]) {
    guard StateSearch.isCandidate(data) else { return }
    found.append(EmbeddedBytes(place: place, bytes: data, isWhole: true))
  }

  private mutating func keepText(_ text: ArraySlice<UInt8>, at place: [String]) {
    guard Base64Text.isCandidate(text) else { return }
    let (bytes, isWhole) = Base64Text.decode(text)
    found.append(EmbeddedBytes(place: place, bytes: bytes, isWhole: isWhole))
  }
}
