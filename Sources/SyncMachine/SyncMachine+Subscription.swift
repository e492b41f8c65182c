import CloudProtocol
package import Records

/// The subscription behind automatic sync: found, or made, before the first fetch.
///
/// A failure here does not stop the fetch, unless the server asked for no request for a while; the
/// next one tries again, and it comes by itself: without a subscription nothing else might call for
/// it. In manual mode none is made. When the database's token has expired, the same is done again
/// before the list of zones is read: a server without its data has no subscriptions.
/// Source: cksyncengine 2.10, Docs/Decisions/0004.
extension SyncMachine {
  /// The name of the subscription the machine makes when the database has none.
  package static let ownSubscription = SubscriptionID("cloudsync-database-changes")

  /// The request that looks for a subscription, when there is need of one.
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
    if let found = results.lazy.compactMap(\.value).first(where: isUsable) {
      record(.setSubscription(found.id), now: now)
      return goOn(&fetch, after: answer, now: now)
    }
    fetch.step = .makingSubscription(configuration.subscription ?? Self.ownSubscription)
    enter(.fetching(fetch))
  }

  mutating func saveSubscription(_ fetch: inout Fetch, _ id: SubscriptionID) -> Advance {
    let subscription = Subscription(id: id, kind: .database(recordType: nil))
    let request = outgoing(.modifySubscriptions(ModifySubscriptions(save: [subscription])))
    fetch.step = .savingSubscription(request.token, id)
    enter(.fetching(fetch))
    return .instruct(.send(request))
  }

  mutating func settleSaving(
    _ fetch: inout Fetch, _ answer: Result<CloudReply, CloudError>, id: SubscriptionID,
    now: Moment
  ) {
    if case .success(.subscriptionsModified(let saved, _)) = answer,
      saved.contains(where: { $0.value != nil })
    {
      record(.setSubscription(id), now: now)
    }
    goOn(&fetch, after: answer, now: now)
  }

  private mutating func goOn(
    _ fetch: inout Fetch, after answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    if case .failure(let error) = answer {
      if isHeldBack(now) { return fail(&fetch, error) }
      fetch.subscriptionFailure = error.code.disposition == .surface ? nil : error.code
    }
    fetch.step = .ready
    enter(.fetching(fetch))
  }

  private func isUsable(_ subscription: Subscription) -> Bool {
    if let wanted = configuration.subscription { return subscription.id == wanted }
    switch subscription.kind {
    case .database: return true
    case .zone, .query: return false
    }
  }
}
