import CloudProtocol
import Foundation
import Testing

@testable import CloudSync

@Suite("Sign-in by a control token")
struct ControlConnectionTests {
  @Test("A sign-in that no server answers fails with a plain sentence")
  func missingServerIsReportedInPlainWords() async throws {
    // The discard port, on which no server listens.
    let url = try #require(URL(string: "http://127.0.0.1:9"))
    let error = await #expect(throws: CloudError.self) {
      try await ControlConnection(url: url, token: "token").signIn(as: "alice")
    }
    #expect(error?.code == .networkFailure)
    #expect(
      error?.message.hasPrefix(
        "the account could not be signed in: the server can't be reached, or did not answer (")
        == true)
    #expect(error?.message.contains("Error Domain") == false)
  }
}
