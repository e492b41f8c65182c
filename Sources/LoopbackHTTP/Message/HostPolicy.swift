/// Protects a server from pages of other sites and from DNS rebinding.
///
/// A page in a browser can send requests to the server's address, and its site's name can be made
/// to resolve to that address; the browser then sends that name in `Host` and `Origin`. Programs
/// send no `Origin`.
package struct HostPolicy: Hashable, Sendable {
  /// The port the server listens on.
  package var port: Int
  /// The allowed origins of pages, besides the server's own.
  package var origins: [String]
  /// The names under which clients reach the server, besides those of the loopback address: a host
  /// for any port, or a host with its port.
  package var hosts: Set<String>
  /// The host of the public URL, which a proxy may send without the URL's port.
  package var proxiedHost: String?
  /// Whether clients may use any IP address as the host: the server listens for other machines.
  ///
  /// DNS rebinding needs a name, and pages of other sites are recognized by their `Origin`.
  package var acceptsAddresses: Bool

  /// Creates a policy for a server on `port`.
  package init(
    port: Int, origins: [String] = [], hosts: [String] = [], proxiedHost: String? = nil,
    acceptsAddresses: Bool = false
  ) {
    self.port = port
    self.origins = origins.map { WebOrigin($0)?.text ?? $0.asciiLowercased }
    self.hosts = Set(hosts.map { $0.asciiLowercased })
    self.proxiedHost = proxiedHost
    self.acceptsAddresses = acceptsAddresses
  }

  /// The names of the address that the server listens on.
  private static let names = ["127.0.0.1", "localhost"]

  /// The rejection of a request; `nil` when the request is allowed.
  ///
  /// - Parameters:
  ///   - isPage: Whether the path is that of a page without data, to which a link on a page of
  ///     another site may lead.
  ///   - isFile: Whether the path is a valid one for the download of a file, which no page can
  ///     guess. The elements of a page that show a file send no `Origin`.
  package func refusal(
    of head: HTTPRequestHead, isPage: Bool = false, isFile: Bool = false
  ) -> HTTPRefusal? {
    let hosts = head.values("host")
    if hosts.count <= 1, let host = head.authority ?? hosts.first {
      guard isOwn(host.asciiLowercased) else {
        return HTTPRefusal(
          403, "the Host field must name this server and its port; --allow-host allows others")
      }
    } else if !hosts.isEmpty || head.minorVersion > 0 {
      // HTTP/1.0 does not require Host; browsers, which a page could misuse, use later versions.
      return HTTPRefusal(400, "the request needs one Host field")
    }
    let origins = head.values("origin")
    if origins.count == 1, self.origins.contains(origins[0].asciiLowercased) { return nil }
    if !origins.isEmpty,
      origins.count > 1
        || !isOwnPage(origins[0].asciiLowercased, (head.authority ?? hosts.first)?.asciiLowercased)
    {
      return HTTPRefusal(403, "requests from pages of other sites are not allowed")
    }
    let isReading = ["GET", "HEAD"].contains(head.method) && origins.isEmpty
    if isFile, isReading { return nil }
    if isPage, isReading,
      head.values("sec-fetch-mode") == ["navigate"], head.values("sec-fetch-dest") == ["document"]
    {
      return nil
    }
    let sites = head.values("sec-fetch-site").map { $0.asciiLowercased }
    if sites.contains(where: { $0 != "same-origin" && $0 != "none" }) {
      return HTTPRefusal(403, "requests from pages of other sites are not allowed")
    }
    return nil
  }

  /// Whether a host with its port, in lower case, is one of this server's.
  private func isOwn(_ authority: String) -> Bool {
    if isLoopback(authority) || isNamed(authority) || authority == proxiedHost { return true }
    return acceptsAddresses
      && HTTPAuthority.host(of: authority).map(HTTPAuthority.isAddress) == true
  }

  private func isNamed(_ authority: String) -> Bool {
    hosts.contains(authority) || HTTPAuthority.host(of: authority).map(hosts.contains) == true
  }

  private func isLoopback(_ authority: String) -> Bool {
    HostPolicy.names.contains { authority == "\($0):\(port)" || (port == 80 && authority == $0) }
  }

  /// Whether an origin, in lower case, is that of the server's own pages; a proxy in front of other
  /// names than those of the loopback address can serve them over HTTPS.
  ///
  /// - Parameter host: the accepted host of the request, in lower case.
  private func isOwnPage(_ origin: String, _ host: String?) -> Bool {
    let isSecure = origin.hasPrefix("https://")
    guard isSecure || origin.hasPrefix("http://") else { return false }
    let authority = String(origin.dropFirst(isSecure ? 8 : 7))
    if isLoopback(authority) { return !isSecure }
    // Another machine's address is another site, although requests may name any address.
    // The public URL's host with another port is another site, too.
    return (authority == host && host != proxiedHost) || isNamed(authority)
  }

  /// The scheme, host and port by which a request reached the server, for the URLs in its response.
  ///
  /// A client compares it with the URL that it used, of which there are two on this machine.
  ///
  /// - Parameter own: the server's URL, for requests without a host.
  package func baseURL(of head: HTTPRequestHead, own: String) -> String {
    guard let host = (head.authority ?? head.value("host"))?.asciiLowercased else { return own }
    // Under its own names the server is reached without TLS, whatever a proxy received.
    return "\(isLoopback(host) ? "http" : head.scheme ?? "http")://\(host)"
  }

  /// The CORS fields that let a page of an allowed origin read the response.
  package func fields(for head: HTTPRequestHead) -> [HTTPRequestHead.Field] {
    guard let origin = head.value("origin"), origins.contains(origin.asciiLowercased) else {
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
    let names = head.list("access-control-request-headers").map { $0.asciiLowercased }
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
