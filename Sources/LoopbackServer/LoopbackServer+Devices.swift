/// A device as the server knows it.
public struct ServerDevice: Hashable, Sendable {
  /// The name; names of devices from outside of this process are unique per account.
  public var name: String
  /// The name of the account that is signed in; `nil` when none is.
  public var account: String?
  /// Whether the account can be used.
  public var availability: AccountAvailability
  /// Whether it has a network.
  public var isOnline: Bool
  /// The number of observers of its signals.
  public var observerCount: Int
  /// The number of pushes that wait until the device is online.
  public var waitingPushCount: Int
}

extension LoopbackServer {
  /// The devices that were created or that sent a request, by name and account.
  public func knownDevices() -> [ServerDevice] {
    pushDispatcher.devices.map { device in
      ServerDevice(
        name: device.name, account: device.account, availability: device.availability,
        isOnline: device.isOnline, observerCount: device.listenerCount,
        waitingPushCount: device.waitingCount)
    }
  }
}

/// Changes to devices by name.
extension FaultControls {
  /// Disconnects every device called `name` from the network, or reconnects it.
  ///
  /// - Parameters:
  ///   - isOnline: whether the devices reach the server.
  ///   - name: the devices' name.
  ///   - account: only those where this account is signed in; `nil` for all.
  public func setOnline(_ isOnline: Bool, device name: String, account: String? = nil) {
    set(DeviceSetting(name: name, account: account, isOnline: isOnline))
  }

  /// Sets the availability of the account on every device called `name`.
  ///
  /// - Parameters:
  ///   - availability: the state that the devices report.
  ///   - name: the devices' name.
  ///   - account: only those where this account is signed in; `nil` for all.
  public func setAvailability(
    _ availability: AccountAvailability, device name: String, account: String? = nil
  ) {
    set(DeviceSetting(name: name, account: account, availability: availability))
  }

  /// Connects every device to the network, and makes each account available.
  package func restoreDevices() {
    let changed = pushDispatcher.devices.filter { !$0.isOnline || $0.availability != .available }
    // Other servers may know more devices.
    for name in Set(changed.map(\.name) + faults.faults.devices.map(\.name)).sorted() {
      set(DeviceSetting(name: name, availability: .available, isOnline: true))
    }
  }

  private func set(_ setting: DeviceSetting) {
    let isShared = faults.isShared
    change { faults in
      // A device may send its next request to a server that does not know it yet.
      if isShared { faults.keep(setting) }
      faults.give(.set(setting))
    }
  }
}
