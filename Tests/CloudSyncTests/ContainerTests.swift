import CloudProtocol
import CloudSync
import Foundation
import Records
import Synchronization
import Testing

@Suite("Containers")
struct ContainerTests {
  /// Proves CS-50.
  @Test("A container always returns the same database objects")
  func containerReturnsSameDatabaseObjects() {
    let container = CKContainer(identifier: "iCloud.test")
    #expect(container.containerIdentifier == "iCloud.test")
    #expect(container.database(with: .private) === container.privateCloudDatabase)
    #expect(container.database(with: .public) === container.publicCloudDatabase)
    #expect(container.database(with: .shared) === container.sharedCloudDatabase)
    #expect(container.sharedCloudDatabase.databaseScope == .shared)
    #expect(CKContainer.default() === CKContainer.default())
  }

  /// Proves CS-51.
  @Test("The account status follows the server's answer")
  func accountStatusFollowsServerAnswer() async throws {
    let table: [(CloudError.Code?, CKAccountStatus)] = [
      (nil, .available), (.notAuthenticated, .noAccount),
      (.managedAccountRestricted, .restricted),
      (.accountTemporarilyUnavailable, .temporarilyUnavailable),
      (.networkUnavailable, .couldNotDetermine), (.internalError, .couldNotDetermine),
    ]
    for (code, expected) in table {
      let transport = ScriptedTransport { (_) throws(CloudError) in
        if let code { throw CloudError(code, "m") }
        return .currentUser(UserID("_me"))
      }
      let container = CKContainer(identifier: "iCloud.test", transport: transport)
      #expect(try await container.accountStatus() == expected, "\(String(describing: code))")
      let twin = await withCheckedContinuation { continuation in
        container.accountStatus { status, error in
          continuation.resume(returning: error == nil ? status : nil)
        }
      }
      #expect(twin == expected)
      let user = try? await container.userRecordID()
      #expect(user?.recordName == (code == nil ? "_me" : nil))
    }
  }

  @Test(
    "Without a transport, requests fail and explain the setup; with an environment they work"
  )
  func missingTransportErrorExplainsSetup() async throws {
    let identifier = "iCloud.hooked"
    let nowhere = CloudSyncEnvironment(variables: [:], provider: { nil })
    let container = CloudSyncEnvironment.$current.withValue(nowhere) {
      CKContainer(identifier: identifier)
    }
    do {
      _ = try await container.userRecordID()
      Issue.record("there was no transport")
    } catch {
      #expect((error as? CKError)?.code == .badContainer)
      #expect(error.localizedDescription.contains("CLOUDSYNC_ variables"))
      #expect(error.localizedDescription.contains("CloudSyncEnvironment"))
    }
    await #expect(throws: CKError.self) { _ = try await container.accountStatus() }
    let transport = ScriptedTransport { (_) throws(CloudError) in .currentUser(UserID("_me")) }
    let other = ScriptedTransport { (_) throws(CloudError) in .currentUser(UserID("_other")) }
    let environment = CloudSyncEnvironment { $0 == identifier ? transport : other }
    let (found, main, twin) = CloudSyncEnvironment.$current.withValue(environment) {
      (CKContainer(identifier: identifier), CKContainer.default(), CKContainer.default())
    }
    #expect(main === twin && main !== CKContainer.default(), "one for each environment")
    for _ in 1...2 { #expect(try await found.userRecordID().recordName == "_me") }
    #expect(try await main.userRecordID().recordName == "_other")
    let call = try #require(transport.calls.last)
    #expect(call.container == identifier && call.environment == .development)
    #expect(call.database == .private && call.request == .fetchCurrentUser)
    #expect(Set(transport.calls.map(\.requestID)).count == 2, "request IDs differ")
  }

  /// Proves CS-53.
  @Test("An account change is posted, and observation ends with the container")
  func accountChangeIsPostedUntilContainerEnds() async {
    let transport = ScriptedTransport { (_) throws(CloudError) in .currentUser(UserID("_me")) }
    var container: CKContainer? = CKContainer(identifier: "iCloud.test", transport: transport)
    let isFirst = Mutex(true)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      _ = NotificationCenter.default.addObserver(
        forName: .CKAccountChanged, object: nil, queue: nil
      ) { _ in
        let resumes = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        if resumes { continuation.resume() }
      }
      transport.signal(.accountChanged)
    }
    #expect(container != nil && transport.stopped == 0)
    container = nil
    #expect(transport.stopped == 1)
  }
}
