public import CloudProtocol
public import Foundation
public import Records

// The pure modules do not import Foundation, so their errors conform here.

extension CloudError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension ByteFormatError: LocalizedError {
  /// The reason and the place.
  public var errorDescription: String? { description }
}
