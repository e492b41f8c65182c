import CloudProtocol
import CloudSync
import Foundation
import GameResultStore
import LoopbackServer
import Records
import SimulationSupport
import SyncSupport

extension SimulatedStore {
  /// Results of puzzles: they never change, the same puzzle is one result, and the server's version
  /// stays.
  static func results(_ device: DeviceSetting) throws -> SimulatedStore {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    let store = try GameResultStore(
      directory: device.folder, container: device.container, clock: device.clock,
      calendar: calendar, now: device.now)
    let pushes = device.observePushes { [weak store] push in
      store?.receivedPush(subscriptionID: push.subscription.rawValue)
    }
    try store.start()
    return SimulatedStore(
      app: store,
      items: { store.results.map { ($0.id.uuidString, line($0)) } },
      waitingCount: { store.status.waiting },
      isWaiting: { UUID(uuidString: $0).map(store.isUnsent) ?? false },
      edit: { random in try edit(store, device, &random) },
      sync: { _ = try? await store.syncNow() },
      quit: {
        pushes?.stop()
        await store.stop()
      })
  }

  private static func edit(
    _ store: GameResultStore, _ device: DeviceSetting, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let before = store.results
    if !before.isEmpty, random.below(5) == 0 {
      let result = random.pick(before)
      try store.delete(result.id)
      return [.removed(key: result.id.uuidString)]
    }
    // Few puzzles, so that devices play the same ones.
    let texts = (0...random.below(4)).map { _ in
      "Wordle \(1_000 + random.below(60)) \(1 + random.below(6))/6"
    }
    let word = DeviceSetting.mark(of: device.account)
    var added = try store.importResults(from: texts.joined(separator: "\n\n")).added
    if random.below(3) == 0 {
      added += try store.add([
        GameResult(
          id: device.newID(), gameId: Game.wordle.id, gameName: "Wordle", date: device.now(),
          score: nil, maxAttempts: 6, completed: false, sharedText: device.text(&random),
          parsedData: ["note": word])
      ])
    }
    return added.map { .wrote(key: $0.id.uuidString, line: line($0)) }
  }

  private static func line(_ result: GameResult) -> String {
    visible(
      [
        result.gameId.uuidString, result.gameName, result.date.bits,
        result.score.map(String.init) ?? "none", "\(result.maxAttempts)", "\(result.completed)",
        result.sharedText,
      ] + result.parsedData.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })
  }
}
