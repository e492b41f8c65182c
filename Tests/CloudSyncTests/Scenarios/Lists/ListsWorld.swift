import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// A server, two devices of alice's and one of bob's.
struct ListsWorld {
  let server = LoopbackServer()
  let phone: ListsApp
  let desk: ListsApp

  init() {
    phone = ListsApp(server, "phone")
    desk = ListsApp(server, "desk")
  }

  func bob(_ name: String = "bob's") -> ListsApp { ListsApp(server, name, account: "bob") }

  /// Lets all devices sync until they agree.
  func sync(_ apps: ListsApp..., fetchingFirst: Bool = true) async throws {
    for _ in 0..<2 { for app in apps { try await app.sync(fetchingFirst: fetchingFirst) } }
  }

  /// Checks that the apps hold the same rows with the same parents, and that nothing waits.
  func expectSame(
    _ apps: ListsApp..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for app in apps {
      #expect(app.rows == apps[0].rows, sourceLocation: sourceLocation)
      for scope in [CKDatabase.Scope.private, .shared] {
        let state = try #require(app.engine(scope)).state
        #expect(
          state.pendingRecordZoneChanges.isEmpty && state.pendingDatabaseChanges.isEmpty,
          sourceLocation: sourceLocation)
      }
      #expect(
        app.contents.withLock { $0.orphans.isEmpty && $0.waiting.isEmpty },
        sourceLocation: sourceLocation)
    }
    #expect(server.controls.openRequestCount == 0, sourceLocation: sourceLocation)
  }

  /// The names of the records in an account's own zone, shares left out.
  func stored(_ account: String = "alice") throws -> Set<String> {
    let records = try server.records(
      in: ZoneID(name: "Lists"), container: ListsApp.container, account: account)
    return Set(records.filter { $0.sharing == nil }.map(\.id.name))
  }
}
