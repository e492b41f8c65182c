import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Checks of uploads and the content of files.
  static let fileChecks: [StorageCheck] = [
    StorageCheck("uploads come back, oldest first, and are replaced", "true 2 1|2|1 3") {
      storage in
      let rows = [upload("1", "x", at: 5), upload("2", "y", at: -5), upload("3", "x", at: 9)]
      try storage.commit(rows.map { .putUpload($0, content: [1]) })
      let isBack = try storage.upload("1") == rows[0]
      func old(_ time: Double, _ limit: Int = 9) throws -> String {
        try storage.uploads(
          through: Timestamp(secondsSinceReferenceDate: time), limit: limit
        ).joined(separator: " ")
      }
      let first = try "\(isBack) \(old(5))|\(old(5, 1))"
      try storage.commit([.putUpload(upload("2", "z", at: 10), content: [2])])
      guard try storage.assetContent("y") == nil else { return "the old content stayed" }
      return try "\(first)|\(old(9))"
    },
    StorageCheck(
      "content of any size comes back whole and is stored once", "0 1 1048576 1048577 2500000"
    ) {
      storage in
      let sizes = [0, 1, 1 << 20, 1 << 20 + 1, 2_500_000]
      let found = try sizes.map { size -> String in
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 3) }
        try storage.commit([
          .putUpload(upload("a\(size)", "c\(size)", at: 0), content: AssetContent(content)),
          .putUpload(upload("b\(size)", "c\(size)", at: 0), content: AssetContent(content)),
          .removeUpload("a\(size)"),
        ])
        return try storage.assetContent("c\(size)") == content ? "\(size)" : "another"
      }
      return found.joined(separator: " ")
    },
    StorageCheck(
      "any range of a content comes back, clamped to the content",
      "true true true true true true true true"
    ) {
      storage in
      let part = AssetContent.partBytes
      let content = (0..<2 * part + 5).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 9) }
      try storage.commit([.putUpload(upload("a", "c", at: 0), content: AssetContent(content))])
      let ranges = [
        0..<1, 0..<0, 5..<part, part - 3..<part + 3, part..<2 * part, 7..<2 * part + 1,
        2 * part..<3 * part, 5 * part..<6 * part,
      ]
      return try ranges.map { range in
        let expected = Array(content[range.clamped(to: content.indices)])
        return "\(try storage.assetContent("c", in: range) == expected)"
      }.joined(separator: " ")
    },
    StorageCheck("content that does not exist has no range", "nil nil") { storage in
      try [0..<1, 0..<0].map { range in
        try storage.assetContent("none", in: range).map { "\($0)" } ?? "nil"
      }.joined(separator: " ")
    },
    StorageCheck(
      "content is removed with its last use, however that ends", "kkg kg kg kkg"
    ) {
      storage in
      func state(_ checksum: String) throws -> String {
        try storage.assetContent(checksum) == nil ? "g" : "k"
      }
      func put(_ checksum: String) throws {
        try storage.commit([
          .putUpload(upload("r", checksum, at: 0), content: [7]),
          .putRecord(holder("h1", 1, [checksum]), in: alice),
          .putRecord(holder("h2", 2, [checksum, "other"]), in: alice), .removeUpload("r"),
        ])
      }
      try put("deleted")
      var found = try state("deleted")
      try storage.put(tombstone("h1", 3))
      found += try state("deleted")
      try storage.put(tombstone("h2", 4))
      found += try state("deleted") + " "
      try put("replaced")
      try storage.put(holder("h1", 5, ["x"]))
      found += try state("replaced")
      try storage.put(holder("h2", 6, ["x"]))
      found += try state("replaced") + " "
      try put("zone")
      found += try state("zone")
      try storage.commit([.removeRecords(of: zoneA, in: alice)])
      found += try state("zone") + " "
      try put("again")
      try storage.put(holder("h1", 7, ["again"]))
      try storage.put(tombstone("h2", 8))
      found += try state("again")
      do {
        try repeating(storage) {
          try storage.commit([.removeRecords(of: zoneA, in: alice)])
          throw Stop()
        }
      } catch is Stop {}
      found += try state("again")
      try storage.commit([.removeRecords(of: zoneA, in: alice)])
      return try found + state("again")
    },
  ]
}
