import CloudProtocol
import Records
import Testing
import WebServices

@Suite("What a server makes of a body")
struct ExchangeTests {
  private static var cases: [ExchangeCase] {
    ExchangeCase.fields + ExchangeCase.modifications + ExchangeCase.lookups
      + ExchangeCase.queries + ExchangeCase.feeds + ExchangeCase.zones
      + ExchangeCase.subscriptions + ExchangeCase.people + ExchangeCase.refused
  }

  @Test("Every body of the table asks for what it should, or is refused by name")
  func table() {
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
      cases.count > 350 && faults.isEmpty,
      "\(faults.count) of \(cases.count)\n\(faults.prefix(40).joined(separator: "\n"))")
  }

  @Test("Files and tokens are not for an exchange")
  func others() throws {
    for endpoint in [Endpoint.assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister] {
      #expect(try ExchangeCase.exchange(.members([:]), endpoint) == nil)
    }
  }
}
