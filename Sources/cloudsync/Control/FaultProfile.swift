import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// Faults from a file: a line for each, written like the words after `faults add`.
///
/// Empty lines and lines that begin with `#` are ignored. A file with a mistake is refused as a
/// whole.
struct FaultProfile: Hashable, Sendable {
  /// The bodies of the requests that add the faults.
  let orders: [[UInt8]]

  init(_ path: String) throws(UsageError) {
    let text: String
    do throws(ToolError) { text = try readText(path) } catch {
      throw UsageError(error.description, code: error.code)
    }
    var orders: [[UInt8]] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard words.first?.hasPrefix("#") == false else { continue }
      do throws(UsageError) {
        var arguments = try Arguments(["add"] + words, knowing: .init())
        guard case .carryOut(let order) = try Faults.Verb(&arguments) else { continue }
        orders.append(order.bytes)
      } catch {
        throw UsageError("line \(number + 1) of \(quoted(path)): \(error.description)")
      }
    }
    self.orders = orders
  }
}

extension Faults {
  /// Adds the faults of a profile, in their order, and prints the pending faults.
  static func apply(
    _ profile: FaultProfile, to address: Address, _ output: Output
  ) async throws -> CInt {
    let control = try address.open()
    defer { control.close() }
    for order in profile.orders {
      _ = try await control.send(ControlRequest(endpoint: "faults", body: order))
    }
    return try await Faults(verb: .list, address: address).run(output)
  }
}
