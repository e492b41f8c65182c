import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// Faults from a file: a line for each, written like the words after `faults add`.
///
/// Empty lines and lines that begin with `#` are ignored. A file with a mistake is refused as a
/// whole; so is one with an account or a device that the server does not know.
struct FaultProfile: Hashable, Sendable {
  /// A line that adds a fault.
  struct Order: Hashable, Sendable {
    /// The file and the number of the line, for messages.
    let place: String
    /// The body of the request that adds the fault.
    let body: [UInt8]
  }

  /// The lines that add faults.
  let orders: [Order]

  init(_ path: String) throws(UsageError) {
    let text: String
    do throws(ToolError) { text = try readText(path) } catch {
      throw UsageError(error.description, topic: "faults", code: error.code)
    }
    var orders: [Order] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard words.first?.hasPrefix("#") == false else { continue }
      let place = "line \(number + 1) of \(quoted(path))"
      do throws(UsageError) {
        guard let body = try FaultProfile.body(words) else { continue }
        orders.append(Order(place: place, body: body))
      } catch {
        throw UsageError("\(place): \(error.description)", topic: "faults")
      }
    }
    self.orders = orders
  }

  /// The validated body of the request that adds the fault of a line; the server that gets it
  /// checks whether its account and its device exist.
  private static func body(_ words: [String]) throws(UsageError) -> [UInt8]? {
    var arguments = try Arguments(["add"] + words, knowing: .init())
    guard case .carryOut(let order) = try Faults.Verb(&arguments) else { return nil }
    do throws(CloudError) { try FileControl.checkFault(order.bytes) } catch {
      throw UsageError(printable(error.message))
    }
    return order.bytes
  }
}

extension FaultProfile {
  /// The body of one request that adds all faults.
  var body: [UInt8] {
    Array("[".utf8) + orders.map(\.body).joined(separator: CollectionOfOne(UInt8(ascii: ",")))
      + Array("]".utf8)
  }

  /// The place of the line that a server refused, before a message.
  func prefix(ofItem index: Int?) -> String {
    index.flatMap { orders.indices.contains($0) ? "\(orders[$0].place): " : nil } ?? ""
  }
}

extension Faults {
  /// Adds the faults of a profile, in their order, and prints the pending faults.
  static func apply(
    _ profile: FaultProfile, to address: Address, _ output: Output
  ) async throws -> CInt {
    let control = try address.open()
    defer { control.close() }
    var request = ControlRequest(endpoint: "faults", body: profile.body)
    request.prefix = profile.prefix(ofItem:)
    _ = try await control.send(request)
    return try await Faults(verb: .list, address: address).run(output)
  }
}
