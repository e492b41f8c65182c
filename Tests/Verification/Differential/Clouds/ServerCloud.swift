import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import Synchronization
import VerificationSupport

/// A real server: in memory or on a file, asked in this process or over HTTP.
final class ServerCloud: Cloud {
  private let server: LoopbackServer
  private let web: LoopbackWebServer?
  private let ways: [Device: any CloudTransport]
  private let folder: URL?
  /// The database, which is removed with this object.
  private let database: (any Sendable)?

  /// The place of a server's data.
  enum Place {
    case memory
    case file
    #if PostgreSQL
      case postgreSQL
    #endif
  }

  /// - Parameters:
  ///   - place: Where it keeps everything.
  ///   - isOverHTTP: Whether its devices ask over HTTP; else in this process.
  init(_ place: Place, isOverHTTP: Bool) throws {
    let clock = tickingClock()
    let limits = ServerCloud.limits
    let server: LoopbackServer
    switch place {
    case .memory:
      (folder, database) = (nil, nil)
      server = LoopbackServer(clock: clock, identity: 7, limits: limits)
    case .file:
      let new = try ServerCloud.makeFolder()
      (folder, database) = (new, nil)
      server = try LoopbackServer(
        path: new.appendingPathComponent("cloud.db").path, clock: clock, identity: 7,
        limits: limits)
    #if PostgreSQL
      case .postgreSQL:
        let new = try TemporaryDatabase()
        (folder, database) = (nil, new)
        server = try LoopbackServer(
          postgreSQL: new.address, identity: 7, notifies: false, clock: clock, limits: limits)
    #endif
    }
    self.server = server
    let web = isOverHTTP ? try LoopbackWebServer(server) : nil
    self.web = web
    var ways: [Device: any CloudTransport] = [:]
    for device in Device.all {
      guard let web else {
        ways[device] = server.device(
          device.name, signedInAs: device.account.isEmpty ? nil : device.account)
        continue
      }
      ways[device] = WebServicesTransport(
        url: URL(string: web.url), apiToken: web.apiToken(),
        webAuthToken: device.account.isEmpty ? nil : try web.webAuthToken(for: device.account),
        device: device.name)
    }
    self.ways = ways
  }

  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.itemsPerRequest = Limits.items
    limits.zoneChangesPage = Limits.zonePage
    limits.databaseChangesPage = Limits.databasePage
    limits.assetBytes = Limits.assetBytes
    return limits
  }

  /// A folder in memory where the system has one: what is compared is answers, not disks.
  private static func makeFolder() throws -> URL {
    let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    let root =
      FileManager.default.isWritableFile(atPath: memory.path)
      ? memory : FileManager.default.temporaryDirectory
    let folder = root.appendingPathComponent("differential-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError> {
    guard let way = ways[device] else {
      return .failure(CloudError(.invalidArguments, "no device \(device.name)"))
    }
    do { return .success(try await way.send(call)) } catch { return .failure(error) }
  }

  func administer(_ act: Act, container: String, account: String) async throws -> String {
    let controls = server.controls
    switch act {
    case .end(let zone, .deleted):
      try controls.deleteZone(zone, container: container, account: account)
    case .end(let zone, .purged):
      try controls.purgeZone(zone, container: container, account: account)
    case .end(let zone, .encryptedDataReset):
      try controls.resetEncryptedData(zone, container: container, account: account)
    case .expireTokens(let zone):
      try controls.expireTokens(of: zone, container: container, account: account)
    case .trim(let zone):
      try controls.trimTombstones(of: zone, container: container, account: account)
    case .quota(let spare):
      let used =
        try server.databases().first { $0.container == container && $0.account == account }?
        .byteCount ?? 0
      try controls.setQuota(spare.map { used + $0 }, of: account)
      return "\(used) bytes used"
    }
    return "done"
  }

  func takeDeliveries(container: String) -> [Delivery] {
    let pushes = server.controls.pushes
    if !pushes.isEmpty { server.controls.forgetRequests() }
    return pushes.filter { $0.push.container == container && $0.fate == .delivered }
      .map { Delivery(device: $0.device, push: $0.push) }
  }

  /// Ends the server and removes its file.
  func close() async {
    await web?.stop()
    server.close()
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }
}

/// A clock that moves one second at each look.
private func tickingClock() -> @Sendable () -> Timestamp {
  let ticks = Ticks()
  return { ticks.next() }
}

private final class Ticks: Sendable {
  private let value = Mutex(0.0)

  func next() -> Timestamp {
    Timestamp(
      secondsSinceReferenceDate: value.withLock { value in
        value += 1
        return value
      })
  }
}
