import CloudSync
import Foundation

/// One device: a way to the server and the engines that use it.
final class Device: Sendable {
  let number: Int
  let replicas: [Replica]

  /// A device of `site` with a folder of its own; nothing is opened yet.
  init(_ number: Int, of count: Int, _ site: Site, _ ledger: Ledger, folder: URL) throws {
    self.number = number
    let account = number < count / 2 ? 0 : 1
    let transport = CountedTransport(site.transport("device-\(number)", account), ledger)
    let container = site.container(transport)
    replicas = try site.views(of: account).map { view in
      let place = Replica.Place(
        device: number, deviceCount: count, scope: view.scope, realms: view.realms,
        folder: folder.appendingPathComponent("device-\(number)-\(view.scope.rawValue)"))
      return try Replica(place, container, ledger)
    }
  }

  func open() throws {
    for replica in replicas { try replica.open() }
  }

  func close() {
    for replica in replicas { replica.close() }
  }
}
