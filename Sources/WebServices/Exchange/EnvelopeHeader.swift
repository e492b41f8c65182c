/// The header fields by which this package's client and server know each other, with the part of a
/// request's envelope that CloudKit Web Services has no place for; and the one that service has.
package enum EnvelopeHeader {
  /// Present when extra members are understood.
  package static let exact = "cloudsync"
  /// The request's name, by which a second arrival is known.
  package static let request = "cloudsync-request"
  /// The account that the client believes is signed in.
  package static let user = "cloudsync-user"
  /// The device that asks.
  package static let device = "cloudsync-device"
  /// Where an answer hands out the next web token (web-services 1.2).
  package static let webToken = "x-apple-cloudkit-web-auth-token"
}
