/// Protects a loopback server from pages of other sites and from DNS rebinding.
///
/// A page in a browser can send requests to 127.0.0.1, and its site's name can be made to resolve
/// to that address; the browser then sends that name in `Host` and `Origin`. Programs send no
/// `Origin`.
package struct HostPolicy: Hashable, Sendable {
  /// The port the server listens on.
  package var port: Int
  /// The allowed origins of pages, besides the server's own.
  package var origins: [String]

  /// Creates a policy for a server on `port`.
  package init(port: Int, origins: [String] = []) {
    self.port = port
    self.origins = origins.map { WebOrigin($0)?.text ?? $0.lowercased() }
  }

  /// The names of the address that the server listens on.
  private static let names = ["127.0.0.1", "localhost"]

  /// The rejection of a request; `nil` when the request is allowed.
  package func refusal(of head: HTTPRequestHead) -> HTTPRefusal? {
    let hosts = head.values("host")
    let names = HostPolicy.names
    let allowed = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    if hosts.count <= 1, let host = head.authority ?? hosts.first {
      guard allowed.contains(host.lowercased()) else {
        return HTTPRefusal(403, "the Host field must name this server and its port")
      }
    } else if !hosts.isEmpty || head.minorVersion > 0 {
      // HTTP/1.0 does not require Host; browsers, which a page could misuse, use later versions.
      return HTTPRefusal(400, "the request needs one Host field")
    }
    let origins = head.values("origin")
    if origins.count == 1, self.origins.contains(origins[0].lowercased()) { return nil }
    let own = allowed.map { "http://\($0)" }
    if !origins.isEmpty, origins.count > 1 || !own.contains(origins[0].lowercased()) {
      return HTTPRefusal(403, "requests from pages of other sites are not allowed")
    }
    let sites = head.values("sec-fetch-site").map { $0.lowercased() }
    if sites.contains(where: { $0 != "same-origin" && $0 != "none" }) {
      return HTTPRefusal(403, "requests from pages of other sites are not allowed")
    }
    return nil
  }

  /// The CORS fields that let a page of an allowed origin read the response.
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

  /// The response fields exposed to pages, besides the CORS-safelisted fields.
  private static let exposedFields =
    "X-Apple-CloudKit-Web-Auth-Token, Retry-After, ETag, Accept-Ranges, Content-Range, Date"

  /// The methods that at least one path allows.
  package static let methods = ["GET", "HEAD", "POST", "PUT", "OPTIONS"]

  /// The response to `OPTIONS`, including CORS preflight requests.
  ///
  /// A page of an allowed origin may send any method and any field: none of them grants access by
  /// itself.
  /// - Parameters:
  ///   - head: The request.
  ///   - methods: The methods of the path; `nil` for an unknown path.
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
    // A page of a public site needs this permission to reach a private address.
    if head.value("access-control-request-private-network") == "true" {
      response.fields.append(.init(name: "access-control-allow-private-network", value: "true"))
    }
    return response
  }
}
