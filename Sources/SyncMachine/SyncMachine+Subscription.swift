import CloudProtocol
package import Records

/// The subscription of automatic sync, found or created before the first fetch.
///
/// A failure does not stop the fetch, unless the server asked to wait. The next fetch tries again
/// and is scheduled automatically, since without a subscription no push would trigger it. In manual
/// mode no subscription is created. When the database token has expired, the step is repeated
/// before the list of zones is fetched: a server that lost its data has no subscriptions. See
/// CE-106, CE-107 and CE-160 in Docs/Evidence/Engine.md.
extension SyncMachine {
  /// The ID of the subscription that the machine creates when the database has none.
  package static let ownSubscription = SubscriptionID("cloudsync-database-changes")

  /// The request that looks for a subscription, if one is needed.
  mutating func subscriptionSearch() -> OutgoingRequest? {
    guard configuration.automaticallySync else { return nil }
    if let wanted = configuration.subscription {
      return state.subscription == wanted ? nil : outgoing(.fetchSubscriptions([wanted]))
    }
    return state.subscription == nil ? outgoing(.fetchSubscriptions(nil)) : nil
  }

  mutating func settleSearch(
    _ fetch: inout Fetch, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    guard case .success(.subscriptions(let results)) = answer else {
      return goOn(&fetch, after: answer, now: now)
    }
    for error in results.compactMap(\.error) { honor(error, now: now) }
    if let found = results.lazy.compactMap(\.value).first(where: isUsable) {
      record(.setSubscription(found.id), now: now)
      return goOn(&fetch, after: answer, now: now)
    }
    if let error = results.lazy.compactMap(\.error).first(where: { $0.code != .unknownItem }) {
      // It may be there.
      return goOn(&fetch, after: .failure(error), now: now)
    }
    if isHeldBack(now) { return goOn(&fetch, after: answer, now: now) }
    enter(.makingSubscription(configuration.subscription ?? Self.ownSubscription), in: &fetch)
  }

  mutating func saveSubscription(_ fetch: inout Fetch, _ id: SubscriptionID) -> Advance {
    let subscription = Subscription(id: id, kind: .database(recordType: nil))
    return request(.modifySubscriptions(ModifySubscriptions(save: [subscription])), in: &fetch) {
      .savingSubscription($0, id)
    }
  }

  mutating func settleSaving(
    _ fetch: inout Fetch, _ answer: Result<CloudReply, CloudError>, id: SubscriptionID,
    now: Moment
  ) {
    if case .success(.subscriptionsModified(let saved, _)) = answer {
      if let error = saved.first?.error {
        honor(error, now: now)
        return goOn(&fetch, after: .failure(error), now: now)
      }
      record(.setSubscription(id), now: now)
    }
    goOn(&fetch, after: answer, now: now)
  }

  private mutating func goOn(
    _ fetch: inout Fetch, after answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    let error: CloudError? = if case .failure(let error) = answer { error } else { nil }
    if let refusal = gateError(now) { return fail(&fetch, error ?? refusal) }
    if let error {
      fetch.subscriptionFailure = error.code.disposition == .surface ? nil : error.code
    }
    enter(.ready, in: &fetch)
  }

  private func isUsable(_ subscription: Subscription) -> Bool {
    if let wanted = configuration.subscription { return subscription.id == wanted }
    // A subscription to one record type sends no pushes for changes of other types.
    return subscription.kind == .database(recordType: nil)
  }
}
