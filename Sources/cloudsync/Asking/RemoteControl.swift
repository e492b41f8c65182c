import CloudSync
import CommandLineKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The control interface of a server that runs, asked over HTTP.
struct RemoteControl: ControlInterface {
  let url: URL
  let token: String
  private let session: URLSession

  /// Names the server and the token that lets in.
  init(url: URL, token: String) {
    self.url = url
    self.token = token
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 120
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  func ask(_ question: ControlQuestion) async throws -> [UInt8] {
    let target = question.target
    var base = url.absoluteString
    while base.hasSuffix("/") { base.removeLast() }
    guard let address = URL(string: base + target.path + (target.query.map { "?\($0)" } ?? ""))
    else { throw ToolError("\(quoted(base)) is no address of a server") }
    var request = URLRequest(url: address)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    if let body = question.body {
      request.httpMethod = "POST"
      request.httpBody = Data(body)
      request.setValue(question.bodyType, forHTTPHeaderField: "content-type")
    }
    let data: Data
    let response: URLResponse
    do { (data, response) = try await session.answer(to: request) } catch {
      let reason = (error as NSError).localizedDescription
      throw Unreachable(description: "no server answers at \(base): \(reason); is it running?")
    }
    guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
      throw refusal((response as? HTTPURLResponse)?.statusCode ?? 0, [UInt8](data))
    }
    return [UInt8](data)
  }

  func close() { session.finishTasksAndInvalidate() }
}

/// Nothing answered.
struct Unreachable: Error, CustomStringConvertible {
  var description: String
}
