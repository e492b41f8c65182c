import CloudSync
import Foundation
import LoopbackServer

/// A device of a world, from one launch of its app to the next.
@dynamicMemberLookup
final class StoreDevice {
  /// Counts the launches.
  var launch = 0
  var setting: DeviceSetting
  var store: SimulatedStore

  /// What people call it.
  var name: String { "\(setting.account)'s device \(setting.number)" }

  init(_ setting: DeviceSetting, _ store: SimulatedStore) {
    self.setting = setting
    self.store = store
  }

  subscript<Value>(dynamicMember path: KeyPath<DeviceSetting, Value>) -> Value {
    setting[keyPath: path]
  }
}

/// Remembers an app that is gone without keeping it.
struct GoneStore {
  weak var app: AnyObject?
  var name: String
}
