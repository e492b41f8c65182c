import CommandLineKit
import Foundation

extension DemoStage {
  /// Runs `body` and returns its duration and the number of requests of `device`.
  func measure(
    _ device: DemoDevice, _ body: () async throws -> Void
  ) async throws -> String {
    let before = try await cloud.requestCount(of: device.name)
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    let seconds = ((clock.now - start) / .seconds(1) * 100).rounded() / 100
    let requests = try await cloud.requestCount(of: device.name) - before
    return "\(count(requests, "request")), \(seconds) s"
  }

  /// Syncs an app on a device and prints the duration and the number of requests.
  ///
  /// - Parameter what: the beginning of the sentence, such as `sent 3 ideas`.
  func sync<App: StoreApp>(
    _ app: App.Type, on device: DemoDevice, _ what: (App) -> String
  ) async throws {
    let opened = try device.app(App.self)
    let progress = SyncProgress(opened)
    let cost = try await output.following {
      progress.line
    } while: {
      try await measure(device) { _ = try await opened.sync() }
    }
    tell("\(what(opened)): \(cost)")
  }

  /// Syncs an app on some devices in turn, twice, so that changes reach all of them.
  func settle<App: StoreApp>(_ app: App.Type, _ devices: [DemoDevice]) async throws {
    for _ in 0..<2 {
      for device in devices { _ = try await device.app(App.self).sync() }
    }
  }

  /// Checks that the content of an app is equal to the byte on two devices.
  mutating func compare<App: StoreApp>(
    _ app: App.Type, _ first: DemoDevice, _ second: DemoDevice
  ) throws {
    let tables = (try first.app(App.self).seen(), try second.app(App.self).seen())
    let same = tables.0 == tables.1
    check(same, "\(App.name) is the same on the \(first.name) and the \(second.name)")
    tell("the same as on the \(first.name), to the byte: \(same ? "yes" : "no")")
  }

  /// Disconnects some devices while `body` runs.
  func offline<Result>(
    _ devices: [DemoDevice], _ body: () async throws -> Result
  ) async throws -> Result {
    for device in devices { device.setOnline(false) }
    defer { for device in devices { device.setOnline(true) } }
    return try await body()
  }
}
