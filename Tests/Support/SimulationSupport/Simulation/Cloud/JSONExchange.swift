import CloudProtocol
import Records
import WebServices

/// A request on its way as the JSON of CloudKit Web Services, and its answer on the way back.
///
/// Between two sides of this package nothing may be lost on the way, so both are compared with what
/// was sent.
struct JSONExchange {
  /// The request as the server reads it; `nil` when it can't.
  private(set) var arrived: CloudRequest?
  /// The fault of the conversion; `nil` for none.
  private(set) var fault: String?

  /// Whether bodies are written and read as text, and not as trees of values.
  private let isText: Bool
  private let notation: Notation
  private let clientRequest: ClientRequest
  private let exchange: ServerRequest?

  /// Sends `call`; `nil` for requests that go another way.
  init?(_ call: CloudCall, asText isText: Bool) {
    self.isText = isText
    notation = Notation(container: call.container, database: call.database, isExact: true)
    guard let clientRequest = ClientRequest(call.request, notation) else { return nil }
    self.clientRequest = clientRequest
    let path = ServicePath(
      container: call.container, environment: call.environment, database: clientRequest.database,
      endpoint: clientRequest.endpoint)
    do {
      if isText {
        exchange = try ServerRequest(
          path, text: clientRequest.text ?? [], notation: notation, wantsToken: false,
          newName: { "" })
      } else {
        let sent = clientRequest.body ?? .object(JSON.Members())
        exchange = try ServerRequest(
          path, body: try JSON(parsing: sent.bytes), notation: notation, wantsToken: false,
          newName: { "" })
      }
      guard let exchange, let request = exchange.requests.first, exchange.requests.count == 1
      else {
        fault = "the request does not arrive as one"
        return
      }
      arrived = request
      if request.normal != call.request.normal { fault = "the request arrives as another one" }
    } catch {
      exchange = nil
      fault = "the request can't be read: \(error)"
    }
  }

  /// The reply that the device reads from the server's `answer`.
  func answer(_ answer: Result<CloudReply, CloudError>) -> Result<CloudReply, CloudError> {
    do throws(CloudError) {
      guard let exchange else { return answer }
      if isText, let reply = try clientRequest.reply(toText: try exchange.text([answer])) {
        return .success(reply)
      }
      return .success(try clientRequest.reply(to: try sent(try exchange.body([answer]))))
    } catch {
      return .failure(received(error))
    }
  }

  /// A body after it was bytes.
  private func sent(_ body: JSON) throws(CloudError) -> JSON {
    do throws(JSONParsingError) { return try JSON(parsing: body.bytes) } catch {
      throw CloudError(.internalError, "the answer can't be read: \(error)")
    }
  }

  /// A failure of the request as a whole after it was bytes.
  private func received(_ error: CloudError) -> CloudError {
    do throws(CloudError) {
      return try notation.error(try sent(notation.json(error))) ?? error
    } catch {
      return error
    }
  }
}

extension CloudRequest {
  /// The same request in the one way in which all ways to say it are written.
  fileprivate var normal: CloudRequest {
    guard case .modifyRecords(var request) = self else { return self }
    for index in request.save.indices {
      request.save[index].policy = request.save[index].policy ?? request.policy
      request.save[index].changes.sort { $0.key < $1.key }
    }
    request.policy = .ifServerRecordUnchanged
    return .modifyRecords(request)
  }
}
