import Foundation
import LoopbackHTTP

/// The number of files and connections that the system lets this process have open.
///
/// A server that has reached it can't even answer that it has too many connections.
struct DescriptorLimit: Hashable, Sendable {
  /// The present limit.
  var current: Int
  /// The highest limit that this process may set.
  var most: Int

  /// The number of files that a server opens besides its connections: its data, logs and uploads.
  private static let reserve = 128

  /// The limit of this process; `nil` if the system does not state it.
  static var ofProcess: DescriptorLimit? { limit(raising: false) }

  /// Raises the limit of this process as far as the system allows it.
  ///
  /// - Returns: The limit then; `nil` if the system does not state it.
  static func raise() -> DescriptorLimit? { limit(raising: true) }

  /// The number of connections that a limit of `descriptors` allows, at most `wanted`.
  static func connections(of descriptors: Int, wanted: Int) -> Int {
    max(1, min(wanted, max(descriptors - reserve, descriptors / 2)))
  }

  /// A warning if the server can't have as many connections as it is made for.
  static func warning(_ options: LoopbackWebServer.Options) -> String? {
    guard let most = ofProcess?.most else { return nil }
    let connections = connections(of: most, wanted: options.connections)
    guard connections < options.connections else { return nil }
    return "cloudsync: this process may have \(most) files open, so the server accepts "
      + "\(connections) connections at once instead of \(options.connections); raise the hard "
      + "limit, with 'ulimit -Hn' or systemd's LimitNOFILE."
  }

  private static func limit(raising isRaised: Bool) -> DescriptorLimit? {
    var limit = rlimit()
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    guard getrlimit(kind, &limit) == 0 else { return nil }
    #if canImport(Darwin)
      // OPEN_MAX: the system refuses more, whatever the hard limit is.
      let most = min(limit.rlim_max, 10_240)
    #else
      let most = limit.rlim_max
    #endif
    var current = limit.rlim_cur
    if isRaised, current < most {
      limit.rlim_cur = most
      if setrlimit(kind, &limit) == 0 { current = most }
    }
    return DescriptorLimit(
      current: Int(clamping: current), most: Int(clamping: max(current, most)))
  }
}
