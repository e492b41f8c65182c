import CloudProtocol
import Records
import Testing
import VerificationSupport
import WebServices

@Suite("What a server makes of a body")
struct ExchangeTests {
  private static var cases: [ExchangeCase] {
    ExchangeCase.fields + ExchangeCase.modifications + ExchangeCase.lookups
      + ExchangeCase.queries + ExchangeCase.feeds + ExchangeCase.zones
      + ExchangeCase.subscriptions + ExchangeCase.people + ExchangeCase.refused
  }

  /// Proves SC-113, WS-14, WS-18, WS-21, WS-22, WS-23, WS-24, WS-25, WS-26, WS-27, WS-29, WS-32,
  /// WS-33, WS-39, WS-42, WS-43, WS-46, WS-47, WS-48, WS-49, WS-50, WS-52, WS-54, WS-55, WS-56,
  /// WS-63, WS-66, WS-68, WS-75, WS-77, WS-78, WS-79.
  @Test("Every body of the table becomes the expected requests or is refused by name")
  func bodiesBecomeExpectedRequests() {
    let cases = Self.cases
    var faults: [String] = []
    for each in cases {
      let place = "\(each.endpoint.rawValue), \(each.name)"
      do {
        let requests = try each.exchange()?.requests
        switch each.outcome {
        case .asks(let wanted):
          if requests != wanted {
            faults.append("\(place): \(requests.map { "\($0)" } ?? "nothing"), not \(wanted)")
          }
        case .refuses: faults.append("\(place): is taken, as \(requests as Any)")
        }
      } catch let error as CloudError {
        guard case .refuses(let reason) = each.outcome, error.code == .invalidArguments,
          error.message.contains(reason)
        else {
          faults.append("\(place): \(error)")
          continue
        }
      } catch { faults.append("\(place): \(error)") }
    }
    #expect(
      cases.count >= 425 && faults.isEmpty,
      "\(faults.count) of \(cases.count)\n\(faults.prefix(40).joined(separator: "\n"))")
  }

  @Test("Files and tokens are not handled by an exchange")
  func filesAndTokensHaveNoExchange() throws {
    for endpoint in [Endpoint.assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister] {
      #expect(try ExchangeCase.exchange(.members([:]), endpoint) == nil)
    }
  }

  /// Proves WS-65, WS-87.
  @Test("One request asks for the changes of at most 200 zones, each with a separate page")
  func requestCoversAtMost200Zones() throws {
    func count(_ zones: Int) throws -> Int? {
      let list = JSON.array(Array(repeating: .members(["zoneID": .members([:])]), count: zones))
      return try ExchangeCase.exchange(.members(["zones": list]), .changesZone)?.requests.count
    }
    #expect(try count(200) == 200)
    let error = #expect(throws: CloudError.self) { try count(201) }
    #expect(error?.code == .limitExceeded)
  }

  /// Proves CS-252, TH-18.
  @Test("A list of desired fields or record types has at most 400 names, for a request or an item")
  func listOfNamesIsLimited() throws {
    let forms: [(Endpoint, String)] = [
      (.recordsModify, #"{"operations":[],"desiredKeys":[NAMES]}"#),
      (
        .recordsModify,
        #"{"operations":[{"operationType":"create","desiredKeys":[NAMES],"record":{"#
          + #""recordName":"n","recordType":"T"}}]}"#
      ),
      (.recordsLookup, #"{"records":[],"desiredKeys":[NAMES]}"#),
      (.recordsLookup, #"{"records":[{"recordName":"n","desiredKeys":[NAMES]}]}"#),
      (.recordsQuery, #"{"query":{"recordType":"T"},"desiredKeys":[NAMES]}"#),
      (.recordsChanges, #"{"zoneID":{"zoneName":"Z"},"desiredKeys":[NAMES]}"#),
      (.changesZone, #"{"zones":[],"desiredKeys":[NAMES]}"#),
      (.changesZone, #"{"zones":[],"desiredRecordTypes":[NAMES]}"#),
      (.changesZone, #"{"zones":[{"zoneID":{"zoneName":"Z"},"desiredKeys":[NAMES]}]}"#),
      (.changesZone, #"{"zones":[{"zoneID":{"zoneName":"Z"},"desiredRecordTypes":[NAMES]}]}"#),
    ]
    for (endpoint, form) in forms {
      for count in [400, 401] {
        let names = Array(repeating: #""k""#, count: count).joined(separator: ",")
        let body = try JSON(parsing: Array(form.replacing("NAMES", with: names).utf8))
        var refusal: CloudError?
        do { _ = try ExchangeCase.exchange(body, endpoint) } catch let error as CloudError {
          refusal = error
        }
        let isRefused = refusal?.message.contains("401 names") ?? false
        #expect(isRefused == (count > 400), "\(form): \(String(describing: refusal))")
      }
    }
  }

  @Test("If a zone asks for numbers as text in both spellings, 'numberAsStrings' counts")
  func oneSpellingOfNumbersAsTextCounts() throws {
    let zone = ZoneID(name: "Notes")
    let record = Record(id: RecordID(name: "n", zone: zone), type: "T", fields: ["a": .int64(1)])
    let page = ZoneChangesPage(
      zone: zone, modified: [record], deleted: [], token: ChangeToken(bytes: [1]),
      moreComing: false)
    for isText in [false, true] {
      let flags = #""numberAsStrings":\#(isText),"numbersAsStrings":\#(!isText)"#
      let body = #"{"zones":[{"zoneID":{"zoneName":"Notes"},\#(flags)}]}"#
      let request = try #require(
        try ExchangeCase.exchange(JSON(parsing: Array(body.utf8)), .changesZone))
      let text = String(
        decoding: try request.text([.success(.zoneChanges(page))]), as: UTF8.self)
      #expect(text.contains(#""value":"1""#) == isText, "\(text)")
    }
  }

  /// Proves I23, WS-94.
  @Test("Each of 10,000 damaged bodies is refused as invalid or read as a request")
  func damagedBodiesAreRefusedOrRead() throws {
    let whole = try Self.cases.compactMap { each -> (ExchangeCase, JSON)? in
      guard case .asks = each.outcome else { return nil }
      return (each, try JSON(parsing: Array(each.body.utf8)))
    }
    var damage = JSONDamage(random: SeededGenerator(seed: 3))
    var faults: [String] = []
    var refused = 0
    for number in 0..<10_000 {
      let (each, json) = whole[number % whole.count]
      var body = json
      for _ in 0...damage.random.below(3) { body = damage.damaged(body) }
      // Whatever is read was text once.
      guard let body = try? JSON(parsing: body.bytes) else { continue }
      do {
        _ = try ExchangeCase.exchange(
          body, each.endpoint, each.database, isExact: damage.random.once(in: 2))
      } catch let error as CloudError where error.code == .invalidArguments {
        refused += 1
        if error.message.utf8.count > 200 { faults.append("long: \(error)") }
      } catch { faults.append("\(body.text): \(error)") }
    }
    #expect((2_000...9_000).contains(refused) && faults.isEmpty, "\(refused), \(faults.prefix(5))")
  }
}
