public import Foundation
import Records
import Synchronization

/// A name and estimates for related operations.
///
/// It can be used from any thread: the values are guarded by a lock.
/// See CS-66.
public final class CKOperationGroup: NSObject, NSSecureCoding, Sendable {
  /// The approximate amount of data that a group sends or receives.
  public enum TransferSize: Int, Sendable {
    /// The size is unknown.
    case unknown = 0
    /// Less than a megabyte.
    case kilobytes = 1
    /// 1 to 9 megabytes.
    case megabytes = 2
    /// 10 to 99 megabytes.
    case tensOfMegabytes = 3
    /// 100 to 999 megabytes.
    case hundredsOfMegabytes = 4
    /// 1 to 9 gigabytes.
    case gigabytes = 5
    /// 10 to 99 gigabytes.
    case tensOfGigabytes = 6
    /// 100 gigabytes or more.
    case hundredsOfGigabytes = 7
  }

  private struct Values {
    var name: String?
    var quantity = 0
    var expectedSendSize = TransferSize.unknown
    var expectedReceiveSize = TransferSize.unknown
    var defaultConfiguration = CKOperation.Configuration()
  }

  private let values: Mutex<Values>

  /// The unique ID of the group.
  public let operationGroupID: String

  /// Creates a group with a new ID.
  public override init() {
    operationGroupID = UUID().uuidString
    values = Mutex(Values())
  }

  /// The name of the group, for logs.
  public var name: String? {
    get { values.withLock { $0.name } }
    set { values.withLock { $0.name = newValue } }
  }

  /// The number of items of the group, in units of the app.
  public var quantity: Int {
    get { values.withLock { $0.quantity } }
    set { values.withLock { $0.quantity = newValue } }
  }

  /// The amount of data that the group sends.
  public var expectedSendSize: TransferSize {
    get { values.withLock { $0.expectedSendSize } }
    set { values.withLock { $0.expectedSendSize = newValue } }
  }

  /// The amount of data that the group receives.
  public var expectedReceiveSize: TransferSize {
    get { values.withLock { $0.expectedReceiveSize } }
    set { values.withLock { $0.expectedReceiveSize = newValue } }
  }

  /// The settings of the group's operations that have none of their own.
  ///
  /// Setting them copies them; `nil` restores the default settings.
  public var defaultConfiguration: CKOperation.Configuration! {
    get { values.withLock { $0.defaultConfiguration } }
    set {
      let copy = newValue?.duplicate() ?? CKOperation.Configuration()
      values.withLock { $0.defaultConfiguration = copy }
    }
  }

  /// The ID and the name.
  public override var description: String {
    "<CKOperationGroup: \(operationGroupID), name=\(name ?? "none")>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the ID, name and estimates.
  public func encode(with coder: NSCoder) {
    let values = values.withLock { $0 }
    ArchivedBytes.encode("CloudSyncOperationGroup", with: coder) { writer in
      writer.write(operationGroupID)
      writer.write(optional: values.name) { $0.write($1) }
      for number in [
        values.quantity, values.expectedSendSize.rawValue, values.expectedReceiveSize.rawValue,
      ] { writer.write(fixed: UInt64(bitPattern: Int64(number))) }
    }
  }

  /// Decodes a group; returns `nil` if the archive is damaged.
  public init?(coder: NSCoder) {
    var values = Values()
    let id = ArchivedBytes.decode("CloudSyncOperationGroup", with: coder) { reader in
      let id = try reader.string()
      values.name = try reader.optionalString()
      values.quantity = Int(truncatingIfNeeded: try reader.fixed64())
      values.expectedSendSize = try reader.transferSize()
      values.expectedReceiveSize = try reader.transferSize()
      return id
    }
    guard let id else { return nil }
    operationGroupID = id
    self.values = Mutex(values)
  }
}

extension ByteReader {
  fileprivate mutating func transferSize() throws(ByteFormatError) -> CKOperationGroup.TransferSize
  {
    let number = Int(truncatingIfNeeded: try fixed64())
    return CKOperationGroup.TransferSize(rawValue: number) ?? .unknown
  }
}
