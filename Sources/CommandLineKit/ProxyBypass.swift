import Foundation

/// Excludes servers on this machine from proxies.
package enum ProxyBypass {
  /// The hosts that are excluded from proxies.
  private static let hosts = ["127.0.0.1", "localhost"]

  /// Adds this machine to `no_proxy` if a proxy is set.
  ///
  /// Applies to this process and the commands that it starts. Call before any other thread runs.
  package static func set() {
    let environment = ProcessInfo.processInfo.environment
    let proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
    guard proxies.contains(where: { environment[$0]?.isEmpty == false }) else { return }
    let known = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
    if known == "*" { return }
    let names = known.split(separator: ",").map(String.init)
    let all = (names + hosts.filter { !names.contains($0) }).joined(separator: ",")
    for name in ["no_proxy", "NO_PROXY"] { setenv(name, all, 1) }
  }
}
