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
    let query = CKQuery(recordType: watched.query.recordType, predicate: predicate)
    watched.query = try query.converted()
    value.kind = .query(watched)
    return value
  }
}

extension NSPredicate {
  /// A predicate equivalent to `query`, rebuilt from its filters.
  static func matching(_ query: Query) -> NSPredicate { CKQuery(query).predicate }
}
