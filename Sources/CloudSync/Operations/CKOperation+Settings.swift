public import Foundation

/// The settings of the configuration under the names they had on the operation itself.
extension CKOperation {
  /// The container the operation runs in; `nil` for the default one.
  public final var container: CKContainer? {
    get { configuration.container }
    set { configuration.container = newValue }
  }

  /// Whether the operation may use a cellular network.
  public final var allowsCellularAccess: Bool {
    get { resolvedConfiguration.allowsCellularAccess }
    set { configuration.allowsCellularAccess = newValue }
  }

  /// Whether the container lists it among its long-lived operations while it runs.
  public final var isLongLived: Bool {
    get { resolvedConfiguration.isLongLived }
    set { configuration.isLongLived = newValue }
  }

  /// The seconds to wait for the next bytes of one request.
  public final var timeoutIntervalForRequest: TimeInterval {
    get { resolvedConfiguration.timeoutIntervalForRequest }
    set { configuration.timeoutIntervalForRequest = newValue }
  }

  /// The seconds the whole operation may take.
  public final var timeoutIntervalForResource: TimeInterval {
    get { resolvedConfiguration.timeoutIntervalForResource }
    set { configuration.timeoutIntervalForResource = newValue }
  }
}
