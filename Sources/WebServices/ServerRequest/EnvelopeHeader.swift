/// The header fields by which this package's client and server recognize each other and send the
/// request properties that CloudKit Web Services does not have; and the service's token field.
package enum EnvelopeHeader {
  /// Present if the sender understands the extra members.
  package static let exact = "cloudsync"
  /// The request ID, by which a repeated request is recognized.
  package static let request = "cloudsync-request"
  /// The account that the client believes is signed in.
  package static let user = "cloudsync-user"
  /// The requesting device.
  package static let device = "cloudsync-device"
  /// The next web token, in responses (WS-8 to WS-13).
  package static let webToken = "x-apple-cloudkit-web-auth-token"
}
