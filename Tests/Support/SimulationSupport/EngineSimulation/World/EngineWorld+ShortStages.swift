import CloudSync
import SyncMachine

/// Actions in the stages of an engine that are short or rare.
///
/// Steps choose what happens without regard to what engines do, so that a stage that lasts for one
/// callback, or that an engine has once in its life, is hardly ever met by what people do seldom.
extension EngineWorld {
  /// Meets a short stage of an engine now and then; returns whether it did.
  ///
  /// Nothing is drawn while no engine is in such a stage.
  func actInShortStage() -> Bool {
    for device in devices {
      guard let stage = device.run?.engine.stage else { continue }
      if stage == .askingBatch, random.chance(0.004) {
        changeAccount(of: device)
        return true
      }
      guard device.host != nil else { continue }
      let rate = stage == .savingSubscription ? 0.02 : stage.isReadOrSent ? 0.005 : 0
      if rate > 0, random.chance(rate) {
        share()
        return true
      }
    }
    return false
  }
}

extension Stage {
  /// Whether changes of records are on their way.
  fileprivate var isReadOrSent: Bool { self == .readingZone || self == .sendingRecords }
}
