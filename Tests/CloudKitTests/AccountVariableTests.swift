import CloudKit
import Testing

@Suite("The account of a server that is reached by HTTP")
struct AccountVariableTests {
  @Test("A web token is used unless an account is named, and a control token signs in others")
  func webTokenIsUsedUnlessAnAccountIsNamed() throws {
    func token(_ account: String?, web: String?, control: String?) throws -> String? {
      let variables = [
        "CLOUDSYNC_SERVER": "http://127.0.0.1:1", "CLOUDSYNC_API_TOKEN": "api",
        "CLOUDSYNC_DEVICE": "\(account ?? "-") \(web ?? "-") \(control ?? "-")",
        "CLOUDSYNC_ACCOUNT": account, "CLOUDSYNC_WEB_AUTH_TOKEN": web,
        "CLOUDSYNC_CONTROL_TOKEN": control,
      ].compactMapValues(\.self)
      let transport = try EmbeddedCloud.transport(for: "iCloud.app", variables: variables)
      return try #require(transport as? WebServicesTransport).webAuthToken
    }
    #expect(try token(nil, web: "alice's", control: "control") == "alice's")
    #expect(try token(nil, web: "alice's", control: nil) == "alice's")
    #expect(try token("bob", web: "alice's", control: "control") == nil, "bob is signed in later")
    #expect(try token(nil, web: "", control: "control") == nil)
    #expect(try token("", web: "alice's", control: "control") == nil, "no account")
  }
}
