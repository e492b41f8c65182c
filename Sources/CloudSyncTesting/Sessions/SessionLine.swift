import CloudProtocol
import Foundation

/// One line of a recorded session.
struct SessionLine: Codable, Sendable {
  /// Only in the first line: the version of the format.
  var format: Int?
  /// The number of the call, from 1, that is made or answered.
  var call: Int?
  /// What was asked.
  var sent: CloudCall?
  /// What was answered.
  var reply: CloudReply?
  /// How it failed.
  var error: CloudError?
  /// A push that arrived.
  var push: CloudPush?
  /// Whether the account changed.
  var accountChanged: Bool?
  /// Whether the server could be reached again.
  var networkReturned: Bool?

  static let currentFormat = 1

  /// The signal of the line, when it is one.
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
