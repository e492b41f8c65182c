import Testing

@testable import LoopbackHTTP

@Suite("Control interface: who is let in")
struct ControlAccessTests {
  private static let token = ControlWorld.token

  private static let strangers: [String?] = [
    nil, "", "Bearer", "Bearer ", "Bearer  \(token)", token, "Basic \(token)",
    "Bearer \(token)x", "Bearer \(token.dropLast())", "Bearer \(token.uppercased())",
    "Bearer \(token) ", "Bearer x\(token.dropFirst())", "Bearer \(token)\(token)",
    "Bearer token-of-alice",
  ]

  /// Proves S5, TH-4.
  @Test("Without the control token every path below the prefix gives the same answer")
  func missingControlTokenRevealsNothing() async throws {
    let world = ControlWorld()
    try await world.prepare()
    let expected = #"401 {"reason":"this endpoint requires the server's control token"}"#
    let paths = ControlEndpoint.allCases.map(\.rawValue) + ["", "nothing", "status?x=1"]
    for authorization in Self.strangers {
      for path in paths {
        for method in ["GET", "POST", "DELETE"] {
          let request = world.request(
            method, "/cloudsync/1/" + path, "{}", authorization: authorization)
          let answer = await world.answer(request)
          let admission = admission(world, request)
          #expect(
            answer == expected && admission == "401",
            "\(method) \(path) with \(authorization ?? "nothing"): \(answer), \(admission)")
        }
      }
    }
    var twice = world.request("GET", "/cloudsync/1/status")
    twice.head.fields += twice.head.fields
    #expect(await world.answer(twice) == expected)
    let open = ControlRoutes(
      server: world.server, token: "", allowsFaults: true, signIn: { _ in "" }, clock: world.clock)
    for authorization in ["Bearer ", "Bearer x", "Bearer \(Self.token)"] {
      let request = world.request("GET", "/cloudsync/1/status", authorization: authorization)
      #expect(await open.answer(request).status == 401, "an empty token lets nobody in")
    }
  }

  /// Proves TH-4.
  @Test("Methods, content types and paths are checked on the request head")
  func controlRequestsAreDecidedByHead() async throws {
    let world = ControlWorld()
    let quiet = ControlWorld(allowsFaults: false)
    for (method, path, type, expected) in [
      ("GET", "status", nil, "0"), ("HEAD", "status", nil, "0"), ("POST", "status", nil, "405"),
      ("PUT", "faults", nil, "405"), ("OPTIONS", "status", nil, "405"),
      ("GET", "sign-in", nil, "405"), ("POST", "sign-in", "application/json", "65536"),
      ("POST", "sign-in", "Application/JSON; Charset=UTF-8", "65536"),
      ("POST", "sign-in", nil, "415"), ("POST", "sign-in", "text/plain", "415"),
      ("POST", "faults", "application/json; x=1", "415"),
      ("POST", "faults", "application/x-www-form-urlencoded", "415"),
      ("POST", "faults", "application/json", "65536"), ("GET", "faults", nil, "0"),
      ("GET", "elsewhere", nil, "404"),
    ] as [(String, String, String?, String)] {
      let request = world.request(method, "/cloudsync/1/\(path)", type: type)
      let found = admission(world, request)
      #expect(found == expected, "\(method) \(path) \(type ?? "-"): \(found)")
    }
    for path in ["/cloudsync", "/cloudsync/1", "/cloudsync/2/status", "/database/1/c", "/x"] {
      #expect(!world.routes.has(path), "\(path)")
      #expect(admission(world, world.request("GET", path)) == "404", "\(path)")
    }
    for method in ["GET", "POST"] {
      let request = quiet.request(method, "/cloudsync/1/faults", #"{"action":"clear"}"#)
      let answer = await quiet.answer(request)
      #expect(answer.hasPrefix("403 ") && answer.contains("fault control is off"))
      #expect(admission(quiet, request) == "403")
    }
    #expect(await quiet.get("status").contains(#""faultControl":false"#))
    let wrong = await world.routes.answer(world.request("PUT", "/cloudsync/1/faults"))
    #expect(wrong.fields.first { $0.name == "allow" }?.value == "GET, HEAD, POST")
    let unknown = await world.routes.answer(
      world.request("GET", "/cloudsync/1/status", authorization: nil))
    #expect(unknown.fields.first { $0.name == "www-authenticate" }?.value == "Bearer")
  }

  /// The number of accepted bytes of a body, or the status of a rejection.
  private func admission(_ world: ControlWorld, _ request: HTTPRequest) -> String {
    switch world.routes.admission(request.head) {
    case .accept(let bytes): "\(bytes)"
    case .acceptFile(let bytes): "file \(bytes)"
    case .acceptAfter(_, let bytes): "after a check \(bytes)"
    case .refuse(let response): "\(response.status)"
    }
  }
}
