import AchievementStore
import CommandLineKit
import Foundation

extension DemoAct {
  /// Nothing while sync is off; then two devices that were apart, merged.
  static let achievements = DemoAct { stage in
    try await stage.achieve()
  } addItem: { _, device in
    try device.app(AchievementsApp.self).earn("comeback", 57_721)
  }
}

extension DemoStage {
  fileprivate mutating func achieve() async throws {
    begin("achievements: nothing leaves the phone, until anna says so")
    let (phone, desk) = try await both(AchievementsApp.self)
    let (onPhone, onDesk) = (phone.app.store, desk.app.store)
    try phone.app.earn("played", 212)
    try phone.app.earn("streak", 31)
    try desk.app.earn("played", 64)
    try desk.app.earn("explorer", 13)
    let quiet = try await measure(phone.device) { _ = try await phone.app.sync() }
    tell("sync is off; asked to sync, the phone makes \(quiet)")
    check(quiet.hasPrefix("0 requests"), "nothing is asked of the server while sync is off")
    for store in [onPhone, onDesk] { try store.setEnabled(true) }
    try await sync(phone) {
      "anna turns it on; the phone sent \(count($0.store.stored.count, "achievement"))"
    }
    try await sync(desk) {
      "the desk merged what both had: \(count($0.store.stored.count, "achievement"))"
    }
    try await settle(phone, desk)
    check(onDesk.progress("played") == 212, "the higher progress stays")

    begin("achievements: progress on both without a network")
    try await offline(phone, desk) {
      try phone.app.earn("streak", 102)
      try desk.app.earn("streak", 45)
      try desk.app.earn("perfect", 11)
    }
    try await settle(phone, desk)
    let tiers = onDesk.achievements.compactMap { achievement in
      achievement.progress.currentTier.map { tier in
        "\(AchievementDefinition.with(id: achievement.id)?.name ?? "?") \(tier.name)"
      }
    }
    check(onDesk.progress("streak") == 102, "the higher of two stays")
    check(onPhone.progress("perfect") == 11, "what one side lacked is added")
    tell("the higher progress and tier stay: \(tiers.joined(separator: ", "))")
    compare(phone, desk)
  }
}

extension AchievementStore {
  /// What was counted for an achievement of the catalogue.
  fileprivate func progress(_ name: String) -> Int {
    let id = AchievementDefinition.named(name)?.id
    return achievements.first { $0.id == id }?.progress.currentValue ?? 0
  }
}
