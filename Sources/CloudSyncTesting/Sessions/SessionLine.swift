import CloudProtocol
import Foundation

/// One line of a recorded session.
struct SessionLine: Codable, Sendable {
  /// Only in the first line: the version of the format.
  var format: Int?
  /// The number of the call, from 1.
  var call: Int?
  /// The request.
  var sent: CloudCall?
  /// The reply.
  var reply: CloudReply?
  /// The error.
  var error: CloudError?
  /// A push that arrived.
  var push: CloudPush?
  /// Whether the account changed.
  var accountChanged: Bool?
  /// Whether the network returned.
  var networkReturned: Bool?

  static let currentFormat = 1

  /// The signal of the line, if any.
  var signal: CloudSignal? {
    if let push { return .push(push) }
    if networkReturned == true { return .networkReturned }
    return accountChanged == true ? .accountChanged : nil
  }

  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }

  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }
}
