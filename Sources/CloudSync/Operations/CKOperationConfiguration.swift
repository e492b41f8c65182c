public import Foundation
import Synchronization

/// The settings of an operation: known to apps as `CKOperation.Configuration`.
///
/// It records which values were set, since those have priority over a group's. It can
/// be used from any thread: the values are guarded by a lock. See CS-66.
public final class CKOperationConfiguration: NSObject, NSCopying, Sendable {
  /// The values that were set; `nil` for those that were not.
  struct Values: Sendable {
    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var timeoutIntervalForRequest: TimeInterval?
    var timeoutIntervalForResource: TimeInterval?
  }

  private let values: Mutex<Values>

  /// Creates the default settings.
  public override init() { values = Mutex(Values()) }

  private init(values: Values) { self.values = Mutex(values) }

  /// The container the operation runs in; `nil` for the default one.
  public var container: CKContainer? {
    get { values.withLock { $0.container } }
    set { values.withLock { $0.container = newValue } }
  }

  /// The quality of service of the operation.
  public var qualityOfService: QualityOfService {
    get { values.withLock { $0.qualityOfService } ?? .default }
    set { values.withLock { $0.qualityOfService = newValue } }
  }

  /// Whether the operation may use a cellular network.
  public var allowsCellularAccess: Bool {
    get { values.withLock { $0.allowsCellularAccess } ?? true }
    set { values.withLock { $0.allowsCellularAccess = newValue } }
  }

  /// Whether the container lists it among its long-lived operations while it runs.
  public var isLongLived: Bool {
    get { values.withLock { $0.isLongLived } ?? false }
    set { values.withLock { $0.isLongLived = newValue } }
  }

  /// The seconds to wait for the next bytes of one request.
  public var timeoutIntervalForRequest: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForRequest } ?? 60 }
    set { values.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// The seconds the whole operation may take.
  public var timeoutIntervalForResource: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForResource } ?? 604_800 }
    set { values.withLock { $0.timeoutIntervalForResource = newValue } }
  }

  /// Creates settings with the same values.
  public func copy(with zone: NSZone? = nil) -> Any { duplicate() }

  /// Creates settings with the same values set.
  func duplicate() -> CKOperationConfiguration {
    CKOperationConfiguration(values: values.withLock { $0 })
  }

  /// These settings, and for what was not set here the ones of `fallback`.
  func filled(from fallback: CKOperationConfiguration?) -> CKOperationConfiguration {
    guard let fallback, fallback !== self else { return self }
    var own = values.withLock { $0 }
    let other = fallback.values.withLock { $0 }
    own.container = own.container ?? other.container
    own.qualityOfService = own.qualityOfService ?? other.qualityOfService
    own.allowsCellularAccess = own.allowsCellularAccess ?? other.allowsCellularAccess
    own.isLongLived = own.isLongLived ?? other.isLongLived
    own.timeoutIntervalForRequest =
      own.timeoutIntervalForRequest ?? other.timeoutIntervalForRequest
    own.timeoutIntervalForResource =
      own.timeoutIntervalForResource ?? other.timeoutIntervalForResource
    return CKOperationConfiguration(values: own)
  }
}

/// The default settings that `configuredWith` sets for a container or database.
struct OperationDefaults: Sendable {
  /// The settings of calls and operations without settings.
  var configuration: CKOperationConfiguration?
  /// The group of operations without a group.
  var group: CKOperationGroup?

  /// The settings of a call without settings.
  var resolved: CKOperationConfiguration {
    CKOperationConfiguration().filled(from: configuration)
      .filled(from: group?.defaultConfiguration)
  }
}
