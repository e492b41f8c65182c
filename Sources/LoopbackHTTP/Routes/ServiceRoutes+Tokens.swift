import CloudProtocol
import Foundation
import WebServices

/// The bodies of `tokens/create` and `tokens/register`. Rules: WS-70.
extension ServiceRoutes {
  /// Accepts a token of Apple's push service, which has no effect.
  func registerToken(_ body: JSON) throws(CloudError) -> JSON {
    _ = try apnsEnvironment(body)
    _ = try body.text("apnsToken")
    return .object(JSON.Members())
  }

  /// The environment of Apple's push service, which is required.
  func apnsEnvironment(_ body: JSON) throws(CloudError) -> String {
    let name = try body.text("apnsEnvironment")
    let names = ["development", "production"]
    guard names.contains(name) else { throw .unknown(name, "'apnsEnvironment'", names) }
    return name
  }

  /// The device of a client that is not named in the URL: the `clientId` in the body, or a device
  /// that no other client has, so that the pushes for it are never those of its own changes.
  func newDeviceName(_ body: JSON, _ context: ServiceContext) throws(CloudError) -> String {
    guard let name = try body.optionalText("clientId") else {
      return "\(context.deviceName)-\(UUID().uuidString)"
    }
    guard (1...255).contains(name.utf8.count) else {
      throw .malformed("a 'clientId' needs 1 to 255 bytes")
    }
    return name
  }
}
