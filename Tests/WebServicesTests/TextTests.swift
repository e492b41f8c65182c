import CloudProtocol
import Records
import Testing
import VerificationSupport
import WebServices

/// Text that is written and read without a tree of values says the same as with one.
@Suite("Records as text, with a tree and without")
struct TextTests {
  /// Both ways of one side to make something of a text: what came out, or the failure.
  private enum Found: Equatable {
    case value(String)
    case refused(CloudError)

    init(_ body: () throws(CloudError) -> some Any) {
      do throws(CloudError) { self = .value("\(try body())") } catch { self = .refused(error) }
    }
  }

  private struct Trip {
    var clientRequest: ClientRequest
    var path: ServicePath
    var notation: Notation
    var exchange: ServerRequest

    init?(_ request: CloudRequest, _ database: DatabaseScope, isExact: Bool) throws {
      let client = Notation(container: "iCloud.test", database: database, isExact: isExact)
      guard let clientRequest = ClientRequest(request, client) else { return nil }
      self.clientRequest = clientRequest
      path = ServicePath(
        container: "iCloud.test", environment: .development, database: clientRequest.database,
        endpoint: clientRequest.endpoint)
      notation = Notation(
        container: "iCloud.test", database: clientRequest.database, user: UserID("_alice"),
        isExact: isExact)
      let body = clientRequest.body?.bytes ?? []
      guard let exchange = try TextTests.byTree(body, path, notation) else { return nil }
      self.exchange = exchange
    }
  }

  private static func byTree(
    _ text: [UInt8], _ path: ServicePath, _ notation: Notation
  ) throws(CloudError) -> ServerRequest? {
    try ServerRequest(
      path, body: ServerRequest.body(text), notation: notation, wantsToken: false,
      newName: { "new" })
  }

  private static func byText(
    _ text: [UInt8], _ path: ServicePath, _ notation: Notation
  ) throws(CloudError) -> ServerRequest? {
    try ServerRequest(path, text: text, notation: notation, wantsToken: false, newName: { "new" })
  }

  private func forEach(
    count: Int, _ body: (inout Sampler, CloudRequest, Trip, String) throws -> Void
  ) rethrows {
    for isExact in [true, false] {
      for database in DatabaseScope.allCases {
        for seed in 0..<count {
          var sampler = Sampler(seed: UInt64(seed), isPlain: !isExact, database: database)
          let request = sampler.request(seed)
          guard let trip = try? Trip(request, database, isExact: isExact) else { continue }
          try body(&sampler, request, trip, "exact \(isExact), \(database), seed \(seed)")
        }
      }
    }
  }

  private func report(_ faults: [String]) {
    guard let first = faults.first else { return }
    Issue.record("\(faults.count) faults, the first: \(first.prefix(2000))")
  }

  @Test("Direct writing gives the same text as writing a JSON tree, byte for byte")
  func fastWritingMatchesTreeWriting() throws {
    var faults: [String] = []
    forEach(count: 14 * 20) { sampler, request, trip, name in
      if trip.clientRequest.text != trip.clientRequest.body?.bytes {
        faults.append("\(name): \(String(decoding: trip.clientRequest.text ?? [], as: UTF8.self))")
      }
      for outcome in [
        ServerRequest.Outcome.success(sampler.reply(to: request)), .failure(sampler.error()),
      ] {
        let outcomes = trip.exchange.requests.map { _ in outcome }
        let tree = Found { () throws(CloudError) in try trip.exchange.body(outcomes).bytes }
        let text = Found { () throws(CloudError) in try trip.exchange.text(outcomes) }
        if tree != text { faults.append("\(name): \(text)") }
      }
    }
    report(faults)
  }

  @Test("Direct reading gives the same result as a JSON tree, and common requests use it")
  func fastReadingMatchesTreeReading() throws {
    var faults: [String] = []
    var quick = 0
    try forEach(count: 14 * 20) { sampler, request, trip, name in
      let body = trip.clientRequest.body?.bytes ?? []
      let tree = Found { () throws(CloudError) in
        try TextTests.byTree(body, trip.path, trip.notation)?.requests
      }
      let text = Found { () throws(CloudError) in
        try TextTests.byText(body, trip.path, trip.notation)?.requests
      }
      if tree != text { faults.append("\(name): \(text), was \(tree)") }
      if ServerRequest(quickly: trip.path, text: body, notation: trip.notation, wantsToken: false)
        != nil
      {
        quick += 1
      }
      let answer = try trip.exchange.body([.success(sampler.reply(to: request))])
      let told = Found { () throws(CloudError) in try trip.clientRequest.reply(to: answer) }
      let read = Found { () throws(CloudError) in
        try trip.clientRequest.reply(toText: answer.bytes) ?? .assetContent([])
      }
      if told != read { faults.append("\(name): \(read), was \(told)") }
      if trip.clientRequest.quickReply(to: answer.bytes) != nil { quick += 1 }
    }
    report(faults)
    // Five kinds of text are read quickly, in 120 samples each.
    #expect(quick > 500, "\(quick)")
  }

  @Test("Requests and answers with the common kinds of fields are read directly")
  func commonFieldsAreReadDirectly() throws {
    let zone = ZoneID(name: "Notes")
    let fields: Fields = [
      "bytes": .bytes([1, 2]), "count": .int64(-7), "empty": .string(""), "ratio": .double(0.5),
      "text": .string("a\"b"), "time": .date(Timestamp(secondsSinceReferenceDate: 12.5)),
    ]
    let records = (0..<3).map { number in
      var record = Record(
        id: RecordID(name: "r\(number)", zone: zone), type: "Note", fields: fields)
      record.changeTag = ChangeTag("1")
      return record
    }
    let save = CloudRequest.modifyRecords(ModifyRecords(save: records.map { RecordSave($0) }))
    let fetch = CloudRequest.fetchRecords(FetchRecords(ids: records.map(\.id)))
    for isExact in [true, false] {
      let saving = try #require(try Trip(save, .private, isExact: isExact))
      let body = saving.clientRequest.body?.bytes ?? []
      let request = ServerRequest(
        quickly: saving.path, text: body, notation: saving.notation, wantsToken: false)
      #expect(request != nil, "\(String(decoding: body, as: UTF8.self))")
      let fetching = try #require(try Trip(fetch, .private, isExact: isExact))
      let reply = CloudReply.records(records.map { ItemResult(id: $0.id, .success($0)) })
      let answer = try fetching.exchange.body([.success(reply)]).bytes
      #expect(
        fetching.clientRequest.quickReply(to: answer) == reply,
        "\(String(decoding: answer, as: UTF8.self))")
    }
  }

  @Test("Text that ends too early is refused by direct reading, wherever it ends")
  func cutTextIsRefused() throws {
    var faults: [String] = []
    // Every third end of a text, others in the next text.
    var first = 0
    try forEach(count: 14) { sampler, request, trip, name in
      first = (first + 1) % 3
      let body = trip.clientRequest.body?.bytes ?? []
      for end in stride(from: first, to: body.count, by: 3) {
        let text = Array(body[..<end])
        let found = ServerRequest(
          quickly: trip.path, text: text, notation: trip.notation, wantsToken: false)
        if found != nil { faults.append("\(name): \(String(decoding: text, as: UTF8.self))") }
      }
      let answer = try trip.exchange.body([.success(sampler.reply(to: request))]).bytes
      for end in stride(from: first, to: answer.count, by: 3) {
        let text = Array(answer[..<end])
        if trip.clientRequest.quickReply(to: text) != nil {
          faults.append("\(name): \(String(decoding: text, as: UTF8.self))")
        }
      }
    }
    report(faults)
  }

  @Test("Numbers at the ends of their kinds, and repeated keys, have one meaning in both ways")
  func extremeNumbersReadSameBothWays() throws {
    let save = RecordSave(Record(id: RecordID(name: "r", zone: .default), type: "Note"))
    let trip = try #require(
      try Trip(.modifyRecords(ModifyRecords(save: [save])), .private, isExact: false))
    let body = String(decoding: trip.clientRequest.body?.bytes ?? [], as: UTF8.self)
    #expect(body.contains(#""fields":{}"#))
    let numbers = [
      "0", "-0", "-1", "01", "-01", "1.5", "1e2", "-", "999999999999999999", "1000000000000000000",
      "9223372036854775807", "9223372036854775808", "9999999999999999999", "99999999999999999999",
      "-9223372036854775808", "-9223372036854775809", "-9999999999999999999",
    ]
    func field(_ key: String, _ number: String, _ type: String) -> String {
      #""\#(key)":{"value":\#(number),"type":"\#(type)"}"#
    }
    var fields = numbers.flatMap { number in
      ["INT64", "DOUBLE", "TIMESTAMP"].map { field("n", number, $0) }
    }
    for second in ["a", "b", "c"] {
      fields.append(field("b", "1", "INT64") + "," + field(second, "2", "INT64"))
    }
    var faults: [String] = []
    for field in fields {
      let text = Array(body.replacing(#""fields":{}"#, with: #""fields":{\#(field)}"#).utf8)
      let tree = Found { () throws(CloudError) in
        try TextTests.byTree(text, trip.path, trip.notation)?.requests
      }
      let read = Found { () throws(CloudError) in
        try TextTests.byText(text, trip.path, trip.notation)?.requests
      }
      if tree != read { faults.append("\(field): \(read), was \(tree)") }
    }
    report(faults)
  }

  @Test("Damaged text is refused, or has the same meaning, in both ways of reading")
  func damagedTextReadsSameBothWays() throws {
    var damage = JSONDamage(random: SeededGenerator(seed: 11))
    var faults: [String] = []
    var refused = 0
    try forEach(count: 14 * 6) { sampler, request, trip, name in
      let body = trip.clientRequest.body ?? .null
      let answer = try trip.exchange.body([.success(sampler.reply(to: request))])
      for _ in 0..<12 {
        let bad = damage.damagedText(body)
        let tree = Found { () throws(CloudError) in
          try TextTests.byTree(bad, trip.path, trip.notation)?.requests
        }
        let text = Found { () throws(CloudError) in
          try TextTests.byText(bad, trip.path, trip.notation)?.requests
        }
        if case .refused = tree { refused += 1 }
        if tree != text {
          faults.append("\(name): \(text), was \(tree)\n\(String(decoding: bad, as: UTF8.self))")
        }
        let badAnswer = damage.damagedText(answer)
        let told = Found { () throws(CloudError) in
          guard let json = try? JSON(parsing: badAnswer) else { return nil as CloudReply? }
          return try trip.clientRequest.reply(to: json)
        }
        let read = Found { () throws(CloudError) in try trip.clientRequest.reply(toText: badAnswer)
        }
        if told != read {
          faults.append(
            "\(name): \(read), was \(told)\n\(String(decoding: badAnswer, as: UTF8.self))")
        }
      }
    }
    report(faults)
    #expect(refused > 500, "\(refused)")
  }

  /// The positions of the objects in `text`, with the number of lists and objects down to each; no
  /// string in `text` has a bracket.
  private static func objects(in text: [UInt8]) -> [(position: Int, depth: Int)] {
    var found: [(position: Int, depth: Int)] = []
    var depth = 0
    for (position, byte) in text.enumerated() {
      switch byte {
      case UInt8(ascii: "{"):
        depth += 1
        found.append((position, depth))
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    }
    return found
  }

  /// `text` with an unknown member in the object at `position`, which holds so many nested lists.
  private static func nesting(_ text: [UInt8], at position: Int, levels: Int) -> [UInt8] {
    let lists = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    let isEmpty = text[position + 1] == UInt8(ascii: "}")
    let member = #""deep":"# + lists + (isEmpty ? "" : ",")
    return Array(text[...position]) + Array(member.utf8) + Array(text[(position + 1)...])
  }

  /// Requests with answers that have a zone, a reference, a parent and a share at every depth.
  private static var deepTrips: [(CloudRequest, CloudReply)] {
    let zone = ZoneID(name: "Notes")
    func id(_ name: String) -> RecordID { RecordID(name: name, zone: zone) }
    let record = Record(
      id: id("r"), type: "Note",
      fields: ["to": .reference(Reference(target: id("t"), action: .none))], parent: id("p"),
      share: id("s"))
    let none = CloudError(.unknownItem, "none")
    let found = ItemResult(id: record.id, .success(record))
    let save = RecordSave(record)
    return [
      (
        .modifyRecords(
          ModifyRecords(save: [save, save], delete: [id("d"), id("e")], fields: .keys(["a"]))),
        .recordsModified(
          saved: [found, ItemResult(id: record.id, .failure(none))],
          deleted: [
            ItemResult(id: id("d"), .success(Done())), ItemResult(id: id("e"), .failure(none)),
          ])
      ),
      (
        .fetchRecords(FetchRecords(ids: [record.id, id("x")])),
        .records([found, ItemResult(id: id("x"), .failure(none))])
      ),
      (
        .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: zone)),
        .queried(QueryPage(records: [record], cursor: nil))
      ),
      (
        .fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil)),
        .zoneChanges(
          ZoneChangesPage(
            zone: zone, modified: [record],
            deleted: [RecordDeletion(id: id("d"), type: "Note")],
            token: ChangeToken(bytes: [1]), moreComing: false))
      ),
    ]
  }

  @Test("Nesting is read up to the limit of JSON, and refused beyond it, in both ways")
  func nestingLimitIsTheSameBothWays() throws {
    var faults: [String] = []
    var (taken, refused) = (0, 0)
    for isExact in [true, false] {
      for (request, reply) in Self.deepTrips {
        let trip = try #require(try Trip(request, .private, isExact: isExact))
        let body = trip.clientRequest.body?.bytes ?? []
        for (position, depth) in Self.objects(in: body) {
          for levels in [JSON.depthLimit - depth, JSON.depthLimit - depth + 1] {
            let text = Self.nesting(body, at: position, levels: levels)
            let tree = Found { () throws(CloudError) in
              try TextTests.byTree(text, trip.path, trip.notation)?.requests
            }
            let read = Found { () throws(CloudError) in
              try TextTests.byText(text, trip.path, trip.notation)?.requests
            }
            if tree != read { faults.append("\(String(decoding: text, as: UTF8.self))") }
            if case .refused = tree { refused += 1 } else { taken += 1 }
          }
        }
        let answer = try trip.exchange.body([.success(reply)]).bytes
        for (position, depth) in Self.objects(in: answer) {
          for levels in [JSON.depthLimit - depth, JSON.depthLimit - depth + 1] {
            let text = Self.nesting(answer, at: position, levels: levels)
            let tree = Found { () throws(CloudError) in
              guard let json = try? JSON(parsing: text) else { return nil as CloudReply? }
              return try trip.clientRequest.reply(to: json)
            }
            let read = Found { () throws(CloudError) in try trip.clientRequest.reply(toText: text) }
            if tree != read { faults.append("\(String(decoding: text, as: UTF8.self))") }
          }
        }
      }
    }
    report(faults)
    #expect(taken > 50 && refused > 50, "\(taken) and \(refused)")
  }

  @Test("A zone ID that is nested up to the limit is still read directly")
  func deepZoneIDIsReadDirectly() throws {
    let mark = Array(#"{"zoneName""#.utf8)
    for isExact in [true, false] {
      for (request, reply) in Self.deepTrips {
        let trip = try #require(try Trip(request, .private, isExact: isExact))
        func deep(_ text: [UInt8]) -> [[UInt8]] {
          Self.objects(in: text).filter { text[$0.position...].starts(with: mark) }.map {
            Self.nesting(text, at: $0.position, levels: JSON.depthLimit - $0.depth)
          }
        }
        if case .modifyRecords = request {
          for text in deep(trip.clientRequest.body?.bytes ?? []) {
            let found = ServerRequest(
              quickly: trip.path, text: text, notation: trip.notation, wantsToken: false)
            #expect(found != nil, "\(String(decoding: text, as: UTF8.self))")
          }
        }
        for text in deep(try trip.exchange.body([.success(reply)]).bytes) {
          let found = trip.clientRequest.quickReply(to: text)
          #expect(found != nil, "\(String(decoding: text, as: UTF8.self))")
        }
      }
    }
  }

  @Test("A request with more items than one may have is refused in both ways")
  func itemLimitIsTheSameBothWays() throws {
    let saves = ["a", "b", "c"].map {
      RecordSave(id: RecordID(name: $0, zone: .default), type: "Note", changes: [])
    }
    let trip = try #require(
      try Trip(.modifyRecords(ModifyRecords(save: saves)), .private, isExact: true))
    let body = trip.clientRequest.body?.bytes ?? []
    for limit in 2...4 {
      var notation = trip.notation
      notation.itemLimit = limit
      let tree = Found { () throws(CloudError) in
        try TextTests.byTree(body, trip.path, notation)?.requests
      }
      let text = Found { () throws(CloudError) in
        try TextTests.byText(body, trip.path, notation)?.requests
      }
      var code: CloudError.Code?
      if case .refused(let error) = tree { code = error.code }
      #expect(tree == text && code == (limit < 3 ? .limitExceeded : nil))
    }
  }
}
