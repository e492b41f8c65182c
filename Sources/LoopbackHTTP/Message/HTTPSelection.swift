/// The part of a resource that a response contains, by the request's range and preconditions.
///
/// Source: RFC 9110, sections 13 and 14.
enum HTTPSelection: Hashable {
  /// The whole content.
  case whole
  /// A byte range.
  case part(Range<Int>)
  /// The requested range is outside of the content.
  case unsatisfiable
  /// The client has the current version.
  case notModified
  /// A precondition names another version.
  case preconditionFailed

  /// Evaluates the request with `head` for `count` bytes whose entity tag is `tag`.
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

  /// Parses a single byte range; multiple ranges, other units and malformed values are ignored.
  private init(range: String, count: Int) {
    let halves = range.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2, halves[0].asciiLowercased == "bytes" else {
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
    // A position too large for an Int is beyond the end of any content.
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
