/// Keeps pages of other sites, and names that only pretend to be this machine, away from a server
/// on loopback.
///
/// A page in a browser can send requests to 127.0.0.1, and a name of its own can be made to point
/// there; the browser then says so in `Host` and `Origin`. Programs send no `Origin`.
package struct HostPolicy: Hashable, Sendable {
  /// The port the server listens on.
  package var port: Int
  /// Origins of pages that are let in beside the server's own.
  package var origins: [String]

  /// A policy for a server on `port`.
  package init(port: Int, origins: [String] = []) {
    self.port = port
    self.origins = origins.map { WebOrigin($0)?.text ?? $0.lowercased() }
  }

  /// The names of the one address that the server listens on.
  private static let names = ["127.0.0.1", "localhost"]

  /// Why a request is not let in; `nil` when it is.
  package func refusal(of head: HTTPRequestHead) -> HTTPRefusal? {
    let hosts = head.values("host")
    let names = HostPolicy.names
    let allowed = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    if hosts.count <= 1, let host = head.authority ?? hosts.first {
      guard allowed.contains(host.lowercased()) else {
        return HTTPRefusal(403, "this server answers to its own name and port only")
      }
    } else if !hosts.isEmpty || head.minorVersion > 0 {
      // HTTP/1.0 needs no Host; every browser, which a page could misuse, speaks a later version.
      return HTTPRefusal(400, "the request needs one Host")
    }
    let origins = head.values("origin")
    if origins.count == 1, self.origins.contains(origins[0].lowercased()) { return nil }
    let own = allowed.map { "http://\($0)" }
    if !origins.isEmpty, origins.count > 1 || !own.contains(origins[0].lowercased()) {
      return HTTPRefusal(403, "pages of other sites are not let in")
    }
    let sites = head.values("sec-fetch-site").map { $0.lowercased() }
    if sites.contains(where: { $0 != "same-origin" && $0 != "none" }) {
      return HTTPRefusal(403, "pages of other sites are not let in")
    }
    return nil
  }

  /// What lets a page of an origin that is let in read the answer.
  package func fields(for head: HTTPRequestHead) -> [HTTPRequestHead.Field] {
    guard let origin = head.value("origin"), origins.contains(origin.lowercased()) else {
      return []
    }
    return [
      .init(name: "access-control-allow-origin", value: origin),
      .init(name: "vary", value: "Origin"),
      .init(name: "access-control-expose-headers", value: HostPolicy.exposedFields),
    ]
  }

  /// The fields of answers that pages may read beside those that every page may.
  private static let exposedFields =
    "X-Apple-CloudKit-Web-Auth-Token, Retry-After, ETag, Accept-Ranges, Content-Range, Date"

  /// The methods that some path takes.
  package static let methods = ["GET", "HEAD", "POST", "PUT", "OPTIONS"]

  /// The answer to `OPTIONS`, also to a page that asks whether it may ask.
  ///
  /// A page that is let in may send any method and any field: none of them lets in by itself.
  /// - Parameters:
  ///   - head: The request.
  ///   - methods: What the path takes; `nil` when there is nothing.
  package func preflight(
    _ head: HTTPRequestHead, methods: [String]? = HostPolicy.methods
  ) -> HTTPResponse {
    var response = HTTPResponse(200)
    if let methods {
      response.fields.append(.init(name: "allow", value: methods.joined(separator: ", ")))
    }
    guard !fields(for: head).isEmpty else { return response }
    let names = head.list("access-control-request-headers").map { $0.lowercased() }
      .filter { !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) }
    response.fields += [
      .init(
        name: "access-control-allow-methods", value: HostPolicy.methods.joined(separator: ", ")),
      .init(
        name: "access-control-allow-headers",
        value: (["content-type"] + names.filter { $0 != "content-type" }).joined(separator: ", ")),
      .init(name: "access-control-max-age", value: "600"),
    ]
    // A page of a public site asks for this before it may reach a private address.
    if head.value("access-control-request-private-network") == "true" {
      response.fields.append(.init(name: "access-control-allow-private-network", value: "true"))
    }
    return response
  }
}
