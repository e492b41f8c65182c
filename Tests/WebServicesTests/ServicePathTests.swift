import CloudProtocol
import Records
import Testing
import WebServices

@Suite("Paths of CloudKit Web Services")
struct ServicePathTests {
  /// Proves WS-1, WS-2.
  @Test("The path of every endpoint, database and environment is read as it is written")
  func endpointPathsRoundTrip() {
    var faults: [String] = []
    var texts: Set<String> = []
    for endpoint in Endpoint.allCases {
      for database in endpoint.isOfDevice ? [DatabaseScope.public] : DatabaseScope.allCases {
        for environment in CloudEnvironment.allCases {
          for container in ["iCloud.org.example.App", "com.apple.notes", "c", "a_b-1.2"] {
            let path = ServicePath(
              container: container, environment: environment, database: database,
              endpoint: endpoint)
            texts.insert(path.text)
            if ServicePath(path.text) != path { faults.append(path.text) }
          }
        }
      }
    }
    #expect(texts.count == (23 * 3 + 2) * 8 && faults.isEmpty, "\(texts.count), \(faults)")
  }

  /// Proves WS-1, WS-2, WS-3.
  @Test("Paths are accepted in the spellings of clients")
  func clientPathSpellingsAreAccepted() {
    let paths: [(String, Endpoint, DatabaseScope, CloudEnvironment)] = [
      (
        "/database/1/iCloud.com.example.app/development/public/records/query", .recordsQuery,
        .public, .development
      ),
      (
        "/database/1/com.apple.notes/production/private/changes/zone", .changesZone, .private,
        .production
      ),
      (
        "/database/1/iCloud.a/production/shared/users/lookup/email", .usersLookupEmail, .shared,
        .production
      ),
      ("/device/1/iCloud.a/development/tokens/create", .tokensCreate, .public, .development),
    ]
    let wrong = paths.filter { text, endpoint, database, environment in
      let path = ServicePath(text)
      return path?.endpoint != endpoint || path?.database != database
        || path?.environment != environment || path?.text != text
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }

  /// Paths with nothing there.
  private static let bad: [String] = [
    "", "/", "//", "database", "/database", "/database/1", "/database/1/c/development/private",
    "/database/1/c/development/private/", "/database/1/c/development/private/records",
    "/database/1/c/development/private/records/", "/database/1/c/development/private/modify",
    "database/1/c/development/private/records/query",
    "x/database/1/c/development/private/records/query",
    " /database/1/c/development/private/records/query",
    "/database/1/c/development/private/records/query ",
    "/database/1/c/development/private/records/query/",
    "/database/1/c/development/private/records/query/x",
    "/database/1/c/development/private/records//query",
    "/database/1/c/development/private//records/query",
    "/database/1/c/development//private/records/query",
    "/database/1/c//development/private/records/query",
    "/database/1//c/development/private/records/query",
    "/database//1/c/development/private/records/query",
    "//database/1/c/development/private/records/query",
    "/database/1//development/private/records/query",
    "/database/0/c/development/private/records/query",
    "/database/2/c/development/private/records/query",
    "/database/01/c/development/private/records/query",
    "/database/v1/c/development/private/records/query",
    "/database//c/development/private/records/query",
    "/Database/1/c/development/private/records/query",
    "/databases/1/c/development/private/records/query",
    "/database/1/c/Development/private/records/query",
    "/database/1/c/staging/private/records/query", "/database/1/c/dev/private/records/query",
    "/database/1/c//private/records/query", "/database/1/c/development/Private/records/query",
    "/database/1/c/development/secret/records/query",
    "/database/1/c/development/2/records/query", "/database/1/c/development//records/query",
    "/database/1/c/development/private/records/Query",
    "/database/1/c/development/private/records/drop",
    "/database/1/c/development/private/tokens/create",
    "/database/1/c/development/tokens/create", "/device/1/c/development/private/tokens/create",
    "/device/1/c/development/records/query", "/device/1/c/development/private/records/query",
    "/device/1/c/development/tokens", "/device/1/c/development/tokens/create/",
    "/device/1/c/tokens/create", "/database/1/../development/private/records/query",
    "/database/1/./development/private/records/query",
    "/database/1/.../development/private/records/query",
    "/database/1/c/../c/development/private/records/query",
    "/database/1/c/development/private/records/../records/query",
    "/database/1/c/development/private/./records/query",
    "/database/1/%2e%2e/development/private/records/query",
    "/database/1/c%2Fd/development/private/records/query",
    "/database/1/c%00/development/private/records/query",
    "/database/1/c%\u{301}/development/private/records/query",
    "/database/1/c/development/private/records%2Fquery",
    "/database/1/c\u{0}/development/private/records/query",
    "/database/1/c/development/private/records/query\u{0}",
    "/database/1/c\r\nX: y/development/private/records/query",
    "/database/1/c d/development/private/records/query",
    "/database/1/c\u{7F}/development/private/records/query",
    "/database/1/c\\d/development/private/records/query",
    "/database/1/c?d/development/private/records/query",
    "/database/1/c#d/development/private/records/query",
    "/database/1/c\"d/development/private/records/query",
    "/database/1/c<d>/development/private/records/query",
    "/database/1/c:d/development/private/records/query",
    "/database/1/\u{E9}/development/private/records/query",
    "/database/1/c\u{301}/development/private/records/query",
    "/\u{301}database/1/c/development/private/records/query",
    "/database/\u{FF11}/c/development/private/records/query",
    "/database/1/c/development/private/records\u{2215}query",
    "\\database\\1\\c\\development\\private\\records\\query",
    "http://localhost/database/1/c/development/private/records/query",
    "*", "/database/1/c/development/private/records/query?x=1", ".", "..", "\u{0}",
  ]

  /// Proves TH-14, WS-1.
  @Test("Any other text is refused as a path")
  func otherPathsAreRefused() {
    let end = "/development/private/records/query"
    let long = [
      "/database/1/" + String(repeating: "c", count: 1024) + end,
      "/database/1/" + String(repeating: "c", count: 10_000_000) + end,
      String(repeating: "/", count: 1024), "/database/1/c" + String(repeating: "/x", count: 500),
      "/database/1/c" + end + String(repeating: "/", count: 900),
    ]
    let taken = (Self.bad + long).filter { ServicePath($0) != nil }.map { $0.prefix(100) }
    #expect(Self.bad.count >= 60 && taken.isEmpty, "\(taken)")
  }

  /// Proves WS-4.
  @Test("The endpoints that accept GET are those in the service's documentation")
  func getEndpointsMatchDocumentation() {
    let gets = Endpoint.allCases.filter(\.takesGet).map(\.rawValue).sorted()
    #expect(
      gets == [
        "subscriptions/list", "users/caller", "users/current", "users/discover",
        "users/lookup/contacts", "zones/list",
      ])
  }

  @Test("A path of 1024 bytes is read, and a longer one is refused")
  func pathsOfAtMost1024BytesAreRead() {
    func path(_ length: Int) -> String {
      let (start, end) = ("/database/1/", "/development/private/records/query")
      let count = length - start.utf8.count - end.utf8.count
      return start + String(repeating: "c", count: count) + end
    }
    #expect(ServicePath(path(1024)) != nil && ServicePath(path(1025)) == nil)
  }
}
