/// A device as the server knows it.
public struct ServerDevice: Hashable, Sendable {
  /// Its name; devices that come from outside of this process have one for each account.
  public var name: String
  /// The name of the account that is signed in; `nil` when none is.
  public var account: String?
  /// Whether the account can be used.
  public var availability: AccountAvailability
  /// Whether it has a network.
  public var isOnline: Bool
  /// How many observers listen to its pushes.
  public var observerCount: Int
  /// How many pushes wait until it is online again.
  public var waitingPushCount: Int
}

extension LoopbackServer {
  /// The devices that were asked for or that asked, by name and account.
  public func knownDevices() -> [ServerDevice] {
    post.devices.map { device in
      ServerDevice(
        name: device.name, account: device.account, availability: device.availability,
        isOnline: device.isOnline, observerCount: device.listenerCount,
        waitingPushCount: device.waitingCount)
    }
  }
}

/// What a test does to devices it does not hold.
extension FaultControls {
  /// Takes every device called `name` off the network, or brings it back.
  ///
  /// - Parameter account: only those where this account is signed in; `nil` for all.
  public func setOnline(_ isOnline: Bool, device name: String, account: String? = nil) {
    for device in post.devices where device.isMeant(name, account) { device.setOnline(isOnline) }
  }

  /// Says whether the account on every device called `name` can be used.
  ///
  /// - Parameter account: only those where this account is signed in; `nil` for all.
  public func setAvailability(
    _ availability: AccountAvailability, device name: String, account: String? = nil
  ) {
    for device in post.devices where device.isMeant(name, account) {
      device.setAvailability(availability)
    }
  }
}

extension DeviceState {
  fileprivate func isMeant(_ name: String, _ account: String?) -> Bool {
    self.name == name && (account == nil || account == self.account)
  }
}
