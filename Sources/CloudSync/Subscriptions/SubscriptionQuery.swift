import Foundation
package import Records

/// The one place where a subscription's predicate becomes a query and a query a predicate.
extension CKSubscription {
  /// The subscription as it is sent, with the query its predicate means.
  ///
  /// Throws `invalidArguments` for a predicate that CloudKit does not take.
  package func checkedValue() throws(CKError) -> Subscription {
    var value = value
    guard case .query(var watched) = value.kind, let predicate = ownPredicate else { return value }
    watched.query = try Query(recordType: watched.query.recordType, predicate: predicate)
    value.kind = .query(watched)
    return value
  }
}

extension Query {
  /// What `predicate` asks for of records of the type `recordType`.
  init(recordType: String, predicate: NSPredicate) throws(CKError) {
    guard predicate == NSPredicate(value: true) else {
      throw CKError(
        .invalidArguments,
        "This predicate cannot be a query for \(recordType): only \"all records\" is understood.")
    }
    self.init(recordType: recordType)
  }
}

extension NSPredicate {
  /// A predicate that stands for `query`: it matches all records when there are no filters.
  convenience init(matching query: Query) { self.init(value: query.filters.isEmpty) }
}
