public import Foundation
import Synchronization

/// The parent of all operations; today the home of their settings.
public enum CKOperation {
  /// Names an operation.
  public typealias ID = String
  /// How an operation runs.
  public typealias Configuration = CKOperationConfiguration
}

/// How an operation runs: known to apps as `CKOperation.Configuration`.
///
/// It can be used from any thread: the values lie behind a lock.
/// Source: cloudkit-surface 1.7.
public final class CKOperationConfiguration: NSObject, NSCopying, Sendable {
  private struct Values {
    var container: CKContainer?
    var qualityOfService = QualityOfService.default
    var allowsCellularAccess = true
    var isLongLived = false
    var timeoutIntervalForRequest: TimeInterval = 60
    var timeoutIntervalForResource: TimeInterval = 604_800
  }

  private let values: Mutex<Values>

  /// The settings every operation has unless told otherwise.
  public override init() { values = Mutex(Values()) }

  private init(values: Values) { self.values = Mutex(values) }

  /// The container the operation runs in; `nil` for the default one.
  public var container: CKContainer? {
    get { values.withLock { $0.container } }
    set { values.withLock { $0.container = newValue } }
  }

  /// How urgent the operation is.
  public var qualityOfService: QualityOfService {
    get { values.withLock { $0.qualityOfService } }
    set { values.withLock { $0.qualityOfService = newValue } }
  }

  /// Whether it may use a cellular network.
  public var allowsCellularAccess: Bool {
    get { values.withLock { $0.allowsCellularAccess } }
    set { values.withLock { $0.allowsCellularAccess = newValue } }
  }

  /// Whether it goes on after the app ended.
  public var isLongLived: Bool {
    get { values.withLock { $0.isLongLived } }
    set { values.withLock { $0.isLongLived = newValue } }
  }

  /// The seconds to wait for the next bytes of one request.
  public var timeoutIntervalForRequest: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForRequest } }
    set { values.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// The seconds the whole operation may take.
  public var timeoutIntervalForResource: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForResource } }
    set { values.withLock { $0.timeoutIntervalForResource = newValue } }
  }

  /// Other settings with the same values.
  public func copy(with zone: NSZone? = nil) -> Any {
    CKOperationConfiguration(values: values.withLock { $0 })
  }
}
