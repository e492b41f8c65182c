import Foundation
import LoopbackServer
import Testing
import WebServices

@testable import LoopbackHTTP

/// The sign-in of web pages.
@Suite("Web sign-in")
struct SignInTests {
  private static let app = "http://app.example:3000"

  /// The ticket of the sign-in that a request without an account is sent to.
  private func ticket(_ world: AccessWorld) async throws -> String {
    let answer = try await world.post(
      .recordsQuery, query: "ckAPIToken=\(world.web.apiToken())", "{}")
    let url = try #require(answer.redirect)
    let start = "\(world.web.url)/sign-in?ticket="
    try #require(url.hasPrefix(start), "\(url)")
    return String(url.dropFirst(start.count))
  }

  private func signIn(
    _ world: AccessWorld, _ members: [String: String], _ fields: [String] = []
  ) async throws -> TestClient.Answer {
    let body = Array(try JSONEncoder().encode(members))
    return try await world.ask("POST", "/sign-in", fields: fields, body: body)
  }

  private func page(_ answer: TestClient.Answer) throws -> JSON { try JSON(parsing: answer.body) }

  /// Proves X10.
  @Test("A page of an allowed origin gets the token of the account that the user chooses")
  func chosenAccountIsSignedIn() async throws {
    try await AccessWorld.run(origins: [Self.app]) { world in
      let ticket = try await ticket(world)
      let offer = try await signIn(world, ["ticket": ticket])
      #expect(offer.status == 200)
      #expect(try page(offer)["container"]?.string == AccessWorld.container)
      #expect(try page(offer)["accounts"]?.array == [.string(AccessWorld.alice)])
      let answer = try page(try await signIn(world, ["ticket": ticket, "account": "bob"]))
      #expect(answer["origins"]?.array == [.string(Self.app)])
      #expect(answer["redirect"] == nil)
      let token = try #require(answer["ckWebAuthToken"]?.string)
      let query = "ckAPIToken=\(world.web.apiToken())&ckWebAuthToken=\(token)"
      let caller = try await world.post(.usersCaller, query: query, "{}")
      #expect(caller.status == 200)
      #expect(caller.text.contains(try world.server.user(of: "bob").rawValue))
      // The token is for the container that asked, and for no other.
      let path = world.path(.usersCaller).replacing(
        AccessWorld.container, with: AccessWorld.otherContainer)
      #expect(try await world.ask("POST", "\(path)?\(query)", body: []).status == 421)
    }
  }

  @Test("A callback of an allowed origin gets the token in its query, and no other one does")
  func callbackGetsToken() async throws {
    try await AccessWorld.run(origins: [Self.app]) { world in
      let ticket = try await ticket(world)
      func redirect(_ callback: String) async throws -> TestClient.Answer {
        try await signIn(
          world, ["ticket": ticket, "account": "bob", "callback": callback])
      }
      let answer = try page(try await redirect("\(Self.app)/done?step=2"))
      let token = try #require(answer["ckWebAuthToken"]?.string)
      #expect(
        answer["redirect"]?.string == "\(Self.app)/done?step=2&ckWebAuthToken=\(token)")
      for callback in [
        "http://evil.example/", "http://app.example:3001/", "javascript:alert(1)", "/console",
        "http://app.example:3000@evil.example/", "http://evil.example#http://app.example:3000",
        "", "http://user:password@app.example:3000/",
      ] {
        let answer = try await redirect(callback)
        #expect(answer.status == 400, "\(callback)")
        #expect(!answer.text.contains("ckWebAuthToken"), "\(callback)")
      }
    }
  }

  @Test("Nobody signs in as a server-to-server key, and the page learns who gets the token")
  func keysAreNotSignedInTo() async throws {
    try await AccessWorld.run(origins: [Self.app]) { world in
      let ticket = try await ticket(world)
      let answer = try await signIn(world, ["ticket": ticket, "account": "server-key-evil"])
      #expect(answer.status == 400 && answer.text.contains("choose another name"))
      #expect(try world.server.accounts().count == 1)
      let offer = try page(try await signIn(world, ["ticket": ticket]))
      #expect(offer["origins"]?.text == "[\"\(Self.app)\"]")
    }
  }

  @Test("A ticket ends after ten minutes, and only a server's own ticket is accepted")
  func ticketEndsAfterTenMinutes() async throws {
    try await AccessWorld.run(origins: [Self.app]) { world in
      let ticket = try await ticket(world)
      for other in [
        "", "x", ticket + "x", try world.web.webAuthToken(for: AccessWorld.alice),
        world.web.apiToken(),
      ] {
        #expect(try await signIn(world, ["ticket": other, "account": "bob"]).status == 401)
      }
      world.pass(seconds: SignInRoutes.ticketSeconds)
      #expect(try await signIn(world, ["ticket": ticket]).status == 200)
      world.pass(seconds: 1)
      let late = try await signIn(world, ["ticket": ticket])
      #expect(late.status == 401 && !late.text.contains(AccessWorld.mark))
    }
  }

  @Test("A page elsewhere can open the page that offers accounts, and can't ask for a token")
  func onlyOwnPageAsksForTokens() async throws {
    try await AccessWorld.run(origins: [Self.app]) { world in
      let ticket = try await ticket(world)
      let navigation = [
        "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
      ]
      for path in ["/sign-in?ticket=\(ticket)", "/sign-in", "/console"] {
        let page = try await world.ask("GET", path, fields: navigation)
        #expect(page.status == 200 && !page.whole.contains(AccessWorld.mark))
        let policy = page.values("content-security-policy")
        #expect(policy.first?.contains("default-src 'none'") == true)
        for fields in [
          ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
          ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
          navigation + ["Origin: \(Self.app)"],
        ] {
          #expect(try await world.ask("GET", path, fields: fields).status == 403, "\(fields)")
        }
      }
      for fields in [
        ["Origin: \(Self.app)"], ["Origin: http://evil.example"], ["Origin: null"], navigation,
      ] {
        let answer = try await signIn(world, ["ticket": ticket, "account": "bob"], fields)
        #expect(answer.status == 403, "\(fields)")
        #expect(answer.values("access-control-allow-origin").isEmpty)
      }
      let own = ["Origin: \(world.web.url)", "Sec-Fetch-Site: same-origin"]
      #expect(try await signIn(world, ["ticket": ticket, "account": "bob"], own).status == 200)
      #expect(try await world.ask("PUT", "/sign-in", body: []).status == 405)
      // Paths with data are not opened by a link.
      let data = world.path(.usersCaller) + "?" + (try world.query(AccessWorld.alice))
      #expect(try await world.ask("GET", data, fields: navigation).status == 403)
    }
  }

  @Test("Without an allowed origin nobody signs in; other machines need the control token")
  func signInIsLimitedToItsServer() async throws {
    try await AccessWorld.run { world in
      let answer = try await signIn(world, ["ticket": try await ticket(world), "account": "bob"])
      #expect(answer.status == 409 && answer.text.contains("--allow-origin"))
    }
    let changes: [(inout LoopbackWebServer.Options) -> Void] = [
      { $0.publicURL = "https://sync.example" }, { $0.allowedHosts = ["sync.example"] },
      { $0.host = "0.0.0.0" },
    ]
    for change in changes {
      try await AccessWorld.run(origins: [Self.app], options: change) { world in
        let answer = try await world.post(
          .recordsQuery, query: "ckAPIToken=\(world.web.apiToken())", "{}")
        let ticket = try #require(answer.redirect?.split(separator: "=").last.map(String.init))
        for token in ["", "x", world.web.apiToken()] {
          let answer = try await signIn(
            world, ["ticket": ticket, "account": "bob", "controlToken": token])
          #expect(answer.status == 403 && !answer.text.contains(AccessWorld.mark))
        }
        let members = ["ticket": ticket, "account": "bob", "controlToken": world.web.controlToken]
        #expect(try await signIn(world, members).status == 200)
      }
    }
  }
}
