public import Foundation
package import Records
import Synchronization

/// A query: a record type, a predicate, and the order of the results.
///
/// A predicate that CloudKit does not support is rejected when the query runs: it then fails with
/// `CKError.invalidArguments` and a sentence that names the part. See CS-71 and CS-72.
///
/// `@unchecked` because predicates and sort descriptors are not checked: neither changes after
/// it was created, and the list of descriptors is guarded by a lock.
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The record type whose records are searched.
  public let recordType: CKRecord.RecordType

  /// The condition for the records.
  public let predicate: NSPredicate

  private let order: Mutex<Order>

  /// The sort descriptors; `@unchecked` because Foundation does not mark them: none of them
  /// changes after it was created, and the list is guarded by the lock.
  private struct Order: @unchecked Sendable {
    var descriptors: [NSSortDescriptor]?
  }

  /// Creates a query for records of the type `recordType` that match `predicate`.
  public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
    self.recordType = recordType
    self.predicate = predicate
    self.order = Mutex(Order())
  }

  /// The order of the results, most significant first; `nil` leaves it to the server.
  public var sortDescriptors: [NSSortDescriptor]? {
    get { order.withLock { $0.descriptors } }
    set { order.withLock { [newValue = Order(descriptors: newValue)] in $0 = newValue } }
  }

  /// Creates an equal query.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKQuery(recordType: recordType, predicate: predicate)
    copy.sortDescriptors = sortDescriptors
    return copy
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives type, predicate and order; a closure as a predicate cannot be archived, and the
  /// query read back is refused wherever it is used.
  public func encode(with coder: NSCoder) {
    let sorts = (sortDescriptors ?? []).map { PredicateSort($0) }
    let isOrdered = sortDescriptors != nil
    ArchivedBytes.encode("CloudSyncQuery", with: coder) { writer in
      writer.write(recordType)
      writer.write(PredicateTree(predicate))
      writer.write(isOrdered)
      writer.write(list: sorts) { $0.write($1) }
    }
  }

  /// Decodes a query; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let parts = ArchivedBytes.decode("CloudSyncQuery", with: coder) { reader in
      let type = try reader.string()
      let tree = try reader.predicateTree()
      let isOrdered = try reader.bool()
      let sorts = try reader.list { (reader) throws(ByteFormatError) in try reader.predicateSort() }
      return (type, tree, isOrdered ? sorts : nil)
    }
    guard let (type, tree, sorts) = parts else { return nil }
    self.init(recordType: type, predicate: tree.predicate)
    sortDescriptors = sorts?.map(\.descriptor)
  }

  /// The type and the predicate's shape; no values.
  public override var description: String {
    "<CKQuery: recordType=\(recordType), predicate=\(PredicateTree(predicate).summary)>"
  }
}

extension CKQuery {
  /// The query as a value.
  ///
  /// - Parameter now: The value of `now()` in the predicate.
  /// - Throws: `invalidArguments` with a description of the unsupported part.
  package func converted(now: Date = Date()) throws(CKError) -> Query {
    let conversion = QueryConversion(
      now: Timestamp(secondsSinceReferenceDate: now.timeIntervalSinceReferenceDate))
    return try conversion.query(
      recordType: recordType, predicate: PredicateTree(predicate),
      sorts: (sortDescriptors ?? []).map { PredicateSort($0) })
  }

  /// Converts a query, such as that of a fetched subscription.
  package convenience init(_ query: Query) {
    self.init(recordType: query.recordType, predicate: PredicateTree(query.filters).predicate)
    if !query.sorts.isEmpty {
      sortDescriptors = query.sorts.map { PredicateSort($0).descriptor }
    }
  }
}
