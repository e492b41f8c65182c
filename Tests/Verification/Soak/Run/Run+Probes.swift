import CommandLineKit
import Foundation
import Records
import VerificationSupport

/// The clients that measure.
extension Run {
  /// A probe for each server, and one for the service.
  func probes(_ site: Site) -> [Probe] {
    let urls = children.map { URL(string: $0.url) }
    return (0...urls.count).map { number in
      let name = "probe-\(number)"
      let own = number < urls.count ? urls[number] : nil
      return Probe(
        name, server: number < urls.count ? number : nil,
        [site.probe(name, at: own), site.probe(name, at: urls[(number + 1) % urls.count])], writes)
    }
  }

  /// Compares what the probes saved with what is there.
  func check(_ probes: [Probe], _ site: Site, _ report: inout Report) async throws {
    let found = try await Probe.records(by: site.probe("reader"))
    for (name, tag) in probes.flatMap(\.saved) where found[name] != tag {
      report.lostProbes += 1
      writes.violation(
        "\(name) was saved as \(tag.rawValue), and is \(found[name]?.rawValue ?? "not there")")
    }
    report.probes = probes.reduce(0) { $0 + $1.saved.count }
    report.twins = probes.reduce(0) { $0 + $1.twins }
  }

  /// Measures pushes from one server to the next, with notifications and without.
  func measurePushes(_ site: Site, _ report: inout Report) async throws {
    for notifies in [true, false] {
      for child in children { _ = try child.start(notifies: notifies, isBalanced: false) }
      let name = notifies ? "told" : "untold"
      let writer = Probe(name, server: nil, [], writes)
      let times = try await PushTimes.measure(
        notifies ? 200 : 30, from: writer, site.probe(name, at: URL(string: children[0].url)),
        to: site.probe("listener-\(name)", at: URL(string: children[1].url)), name: name, writes)
      report.pushTimes[notifies] = times
      for child in children where await child.stop() != 0 {
        writes.violation("a server did not end by itself")
      }
    }
  }
}

/// The sockets of the PostgreSQL servers that an address names.
struct DatabaseSockets {
  /// Their paths.
  let paths: [String]
  private let components: URLComponents

  init(_ address: String) throws(ToolError) {
    guard let components = URLComponents(string: address) else {
      throw ToolError("the address of the database is not a URL")
    }
    func values(_ name: String) -> [Substring] {
      components.queryItems?.first { $0.name == name }?.value?.split(separator: ",") ?? []
    }
    let hosts = values("host")
    let ports = values("port")
    guard !hosts.isEmpty, hosts.allSatisfy({ $0.hasPrefix("/") }) else {
      throw ToolError("the address of the database needs a folder of sockets as its host")
    }
    paths = hosts.enumerated().map { index, host in
      "\(host)/.s.PGSQL.\(ports.isEmpty ? "5432" : ports[index % ports.count])"
    }
    self.components = components
  }

  /// The address with ports of this machine in place of the sockets.
  func address(through ports: some Collection<Int>) -> String {
    var components = components
    let kept = components.queryItems?.filter { $0.name != "host" && $0.name != "port" } ?? []
    components.queryItems =
      kept + [
        URLQueryItem(name: "host", value: ports.map { _ in "127.0.0.1" }.joined(separator: ",")),
        URLQueryItem(name: "port", value: ports.map(String.init).joined(separator: ",")),
        URLQueryItem(name: "sslmode", value: "disable"),
        URLQueryItem(name: "gssencmode", value: "disable"),
      ]
    return components.string ?? ""
  }
}
