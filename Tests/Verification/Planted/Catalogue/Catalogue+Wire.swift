extension Catalogue {
  /// Faults in how requests and answers are written as JSON.
  static let wire: [PlantedFault] = [
    PlantedFault(
      "reason lost on the wire", "A purge or a reset arrives as a deletion.", by: .machines,
      edits: [
        .init(
          "Sources/WebServices/ClientRequest/ClientRequest+Changes.swift",
          "reason: reason.flatMap { ZoneDeletionReason(rawValue: $0) } ?? .deleted))",
          "reason: PLANTED ? .deleted : reason.flatMap { ZoneDeletionReason(rawValue: $0) } ?? "
            + ".deleted))"
        )
      ]),
    PlantedFault(
      "last page on the wire", "An answer arrives as if there were no more pages.", by: .machines,
      edits: [
        .init(
          "Sources/WebServices/ServerRequest/ServerRequest+Changes.swift",
          "members.add(\"moreComing\", .bool(page.moreComing))",
          "members.add(\"moreComing\", .bool(page.moreComing && !PLANTED))")
      ]),
    PlantedFault(
      "atomic lost on the wire", "A request that is atomic arrives as one that is not.",
      by: .machines,
      edits: [
        .init(
          "Sources/WebServices/ServerRequest/ServerRequest+Records.swift",
          "operations.request.isAtomic = try body.flag(\"atomic\") ?? true",
          "operations.request.isAtomic = try (body.flag(\"atomic\") ?? true) && !PLANTED")
      ]),
    PlantedFault(
      "wait lost on the wire", "How long to wait after a failure does not arrive.", by: .machines,
      edits: [
        .init(
          "Sources/WebServices/Notation/Notation+Errors.swift",
          "error.retryAfter = extra[\"retryAfter\"]?.double ?? error.retryAfter",
          "error.retryAfter = PLANTED ? nil : extra[\"retryAfter\"]?.double ?? error.retryAfter")
      ]),
    PlantedFault(
      "large numbers rounded", "Whole numbers beyond 53 bits are rounded.", by: .machines,
      edits: [
        .init(
          "Sources/WebServices/JSON/JSONScanner+Numbers.swift",
          "let value = Int64(text) { return .integer(value) }",
          "let value = Int64(text) { return .integer(PLANTED ? value & ~0x3ff : value) }")
      ]),
    PlantedFault(
      "deletion's type lost", "A deletion in a feed arrives without its record's type.",
      by: .machines,
      edits: [
        .init(
          "Sources/WebServices/Notation/Notation+Records.swift",
          "type: type ?? plain ?? \"\")", "type: PLANTED ? \"\" : type ?? plain ?? \"\")")
      ]),
    PlantedFault(
      "last page in the text", "A page read as text says that there are no more.", by: .machines,
      edits: [
        .init(
          "Sources/WebServices/Text/RecordReader+Answers.swift",
          "      moreComing: moreComing)", "      moreComing: moreComing && !PLANTED)")
      ]),
  ]
}
