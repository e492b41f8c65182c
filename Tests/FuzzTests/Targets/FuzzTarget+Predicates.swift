import Foundation
import Records

@testable import CloudSync

extension FuzzTarget {
  /// Formats of predicates.
  static let predicate = FuzzTarget(name: "predicate") { input, planted in
    var input = input
    let bits = input.byte()
    let arguments: [Any?] = [
      ["title", 7, 1.5, nil], ["ab", "c", "d", "e"],
      [[1, 2, 3], ["x"], true, Date(timeIntervalSince1970: 0)],
      [],
    ][Int(bits & 3)]
    let tree = PredicateTree(format: input.text, arguments: arguments)
    if case .invalid(let error) = tree {
      try check(!error.sentence.isEmpty, "an error without a word")
      return
    }
    let format = tree.format
    let again = PredicateTree(format: format, arguments: [])
    if case .invalid(let error) = again {
      throw Violation("a predicate that can't be read when written: \(error.sentence) \(format)")
    }
    try check(again.format == format, "a predicate with two forms: \(format)")
    if case .comparison(let comparison) = tree, case .value(.string(let text)) = comparison.right {
      try plant(planted, text.utf8)
    }
    _ = tree.summary
    // Regular expressions are the app's own, and may take as long as they like.
    if !format.contains("MATCHES") {
      let object: Any = bits & 16 == 0 ? record : sample
      let evaluation = PredicateEvaluation(object: object, variables: ["v": 7, "name": "x"])
      try check(
        evaluation.isTrue(tree) == !evaluation.isTrue(.not(tree)), "neither true nor false")
    }
    let conversion = QueryConversion(now: Timestamp(secondsSinceReferenceDate: 0))
    let query = try? conversion.query(recordType: "Note", predicate: tree, sorts: [])
    if let query {
      try check(PredicateTree(query.filters).format.utf8.count > 0, "filters that can't be shown")
    }
    guard bits & 12 == 4 else { return }
    var writer = ByteWriter()
    writer.write(tree)
    var reader = ByteReader(writer.bytes)
    let kept = try reader.predicateTree()
    try check(kept.format == format, "another predicate when archived")
  }

  private static let record: CKRecord = {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
    record["a"] = 7
    record["title"] = "The title"
    record["b"] = 1.5
    record["c"] = ["x", "y"]
    record["d"] = Date(timeIntervalSince1970: 0)
    record["e"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "f"), action: .none)
    return record
  }()

  /// Much the same as a dictionary, of which Foundation makes others at each look.
  private nonisolated(unsafe) static let sample: [String: Any] = [
    "a": 7, "title": "The title", "b": 1.5, "c": ["x", "y"], "d": Date(timeIntervalSince1970: 0),
    "e": ["f": 1],
  ]
}
