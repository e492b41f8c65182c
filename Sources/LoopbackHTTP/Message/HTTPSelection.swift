/// What of a content an answer holds, by the range and the conditions of its request.
///
/// Source: RFC 9110, sections 13 and 14.
enum HTTPSelection: Hashable {
  /// All of it.
  case whole
  /// These of its bytes.
  case part(Range<Int>)
  /// The bytes asked for are not there.
  case unsatisfiable
  /// The client has it already.
  case notModified
  /// The client wants another version.
  case preconditionFailed

  /// What the request with `head` gets of `count` bytes whose entity tag is `tag`.
  init(_ head: HTTPRequestHead, count: Int, tag: String) {
    let wanted = head.list("if-match")
    let unwanted = head.list("if-none-match")
    if !wanted.isEmpty, !wanted.contains(where: { $0 == "*" || $0 == tag }) {
      self = .preconditionFailed
    } else if unwanted.contains(where: { $0 == "*" || $0 == tag || $0 == "W/" + tag }) {
      self = .notModified
    } else if head.method == "GET", head.values("if-range").allSatisfy({ $0 == tag }),
      let range = head.value("range")
    {
      self = HTTPSelection(range: range, count: count)
    } else {
      self = .whole
    }
  }

  /// Reads one range of bytes; several, other units and what is none are passed over.
  private init(range: String, count: Int) {
    let halves = range.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2, halves[0].lowercased() == "bytes" else {
      self = .whole
      return
    }
    let ends = halves[1].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.contains(where: { !$0.isEmpty }),
      ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else {
      self = .whole
      return
    }
    // What is beyond every number is beyond every content.
    let first = ends[0].isEmpty ? nil : Int(ends[0]) ?? .max
    let last = ends[1].isEmpty ? nil : Int(ends[1]) ?? .max
    switch (first, last) {
    case (let first?, let last?) where last < first: self = .whole
    case (let first?, _) where first >= count: self = .unsatisfiable
    case (let first?, let last): self = .part(first..<(min(last ?? .max, count - 1) + 1))
    case (nil, let length?) where length == 0 || count == 0: self = .unsatisfiable
    case (nil, let length?): self = .part((count - min(length, count))..<count)
    case (nil, nil): self = .whole
    }
  }
}
