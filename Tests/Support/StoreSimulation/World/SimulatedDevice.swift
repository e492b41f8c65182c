import CloudSync
import Foundation
import LoopbackServer

/// A device of a world, from one launch of its app to the next.
final class SimulatedDevice {
  let account: String
  let number: Int
  /// How far its wall clock is off, in seconds.
  let offset: Double
  /// How fast its wall clock goes.
  let rate: Double
  /// Counts the launches.
  var launch = 0
  var folder: URL
  var link: LoopbackDevice
  var store: any SimulatedStore

  /// What people call it.
  var name: String { "\(account)'s device \(number)" }

  init(
    account: String, number: Int, offset: Double, rate: Double, folder: URL, link: LoopbackDevice,
    store: any SimulatedStore
  ) {
    self.account = account
    self.number = number
    self.offset = offset
    self.rate = rate
    self.folder = folder
    self.link = link
    self.store = store
  }
}

/// Remembers an app that is gone without keeping it.
struct GoneStore {
  weak var store: (any SimulatedStore)?
  var name: String
}
