public import CloudProtocol
public import CloudSync
public import LoopbackServer
import Synchronization

/// The server in the process that containers talk to when nothing else was said.
///
/// It keeps everything in memory and has one account signed in, so that an app's sync code runs
/// as it is. `CLOUDSYNC_ACCOUNT` names another account, or nobody when it is empty;
/// `CLOUDSYNC_DEVICE` names the device.
public final class EmbeddedCloud: CloudProvider {
  /// The server, to look into and to break from tests. Made at its first use.
  public static let server = LoopbackServer()

  /// The account that is signed in when `CLOUDSYNC_ACCOUNT` says nothing.
  public static let defaultAccount = "default"

  private static let devices = Mutex<[String: LoopbackDevice]>([:])

  private init() {}

  /// The device that containers of this process are on; signed in when it is first asked for.
  public static func transport(
    for container: String, variables: [String: String]
  ) -> any CloudTransport {
    let name = variables["CLOUDSYNC_DEVICE"] ?? "this device"
    return devices.withLock { devices in
      if let device = devices[name] { return device }
      let account = variables["CLOUDSYNC_ACCOUNT"] ?? defaultAccount
      let device = server.device(name, signedInAs: account.isEmpty ? nil : account)
      devices[name] = device
      return device
    }
  }
}
