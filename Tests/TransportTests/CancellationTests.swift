import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import Testing

@Suite("Cancelled requests")
struct CancellationTests {
  /// Proves WS-98.
  @Test("Requests cancelled while their responses arrive delay no others", .timeLimit(.minutes(20)))
  func givenUpAtTheEnd() async throws {
    let server = LoopbackServer()
    let web = try LoopbackWebServer(server)
    let transport = WebServicesTransport(
      url: URL(string: web.url), apiToken: web.apiToken(),
      webAuthToken: try web.webAuthToken(for: "alice"), device: "phone")
    @Sendable func ask() async -> CloudError.Code? {
      do throws(CloudError) {
        _ = try await transport.send(
          CloudCall(
            container: containerID, database: .private, requestID: UUID().uuidString,
            request: .fetchCurrentUser))
        return nil
      } catch { return error.code }
    }
    var outcomes: [CloudError.Code?: Int] = [:]
    for _ in 0..<150 {
      await withTaskGroup(of: CloudError.Code?.self) { group in
        for _ in 0..<6 { group.addTask { await ask() } }
        if let first = await group.next() { outcomes[first, default: 0] += 1 }
        // The answers to the others are on their way.
        group.cancelAll()
        for await outcome in group { outcomes[outcome, default: 0] += 1 }
      }
    }
    #expect(Set(outcomes.keys).subtracting([nil, .operationCancelled]) == [], "\(outcomes)")
    #expect(await ask() == nil, "nothing stands still")
    await web.stop()
    server.close()
  }
}
