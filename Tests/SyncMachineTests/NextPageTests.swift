import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("The next page of a zone is read while the app handles the one before")
struct NextPageTests {
  /// A fetch whose first page has arrived when the app is given it; `onPage` is what happens
  /// meanwhile, with the token of the request for the second page.
  private func story(
    _ onPage: @escaping (inout SyncMachine, RequestToken, Moment) -> Void
  ) -> Story {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.log = []
    let next = RequestToken(number: (story.request?.token.number ?? 0) + 1)
    var hasBegun = false
    story.onEvent = { machine, event, now in
      guard case .fetchedZoneChanges = event, !hasBegun else { return }
      hasBegun = true
      onPage(&machine, next, now)
    }
    story.answer(FetchStoryTests.page(["a"], 1, more: true))
    return story
  }

  /// Proves CE-173.
  @Test("A page that arrives early is delivered, and its token kept, only after the one before")
  func earlyPageWaits() {
    var story = story { machine, next, now in
      machine.received(FetchStoryTests.page(["b"], 2), for: next, now: now, jitter: 1)
      #expect(machine.state.zoneTokens[Story.zone] == nil)
      #expect(machine.stage == .deliveringZone)
    }
    #expect(
      story.told() == [
        "> fetchZoneChanges", "fetched [\"a\"] []", "fetched [\"b\"] []", "didFetchZone Notes",
        "didFetchChanges", "done",
      ])
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(2))
  }

  /// Proves CE-173.
  @Test("Only one page is read ahead")
  func onlyOnePageIsReadAhead() {
    var story = story { machine, next, now in
      machine.received(FetchStoryTests.page(["b"], 2, more: true), for: next, now: now, jitter: 1)
      #expect(machine.next(now: now) == .wait(until: nil))
    }
    #expect(
      story.told() == [
        "> fetchZoneChanges", "fetched [\"a\"] []", "> fetchZoneChanges", "fetched [\"b\"] []",
      ])
    story.answer(FetchStoryTests.page([], 3))
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(3))
  }

  /// Proves CE-176.
  @Test("The context keeps the options of the call, whatever the app chooses for its requests")
  func contextKeepsOptionsOfCall() {
    var story = Story.signedIn()
    let (first, second) = (Story.zone, ZoneID(name: "Other"))
    story.options = FetchOptions(scope: .zones([first]))
    story.fetch()
    story.answer(FetchStoryTests.database([first, second]))
    // From here on the app returns the options of the context.
    story.options = nil
    story.answer(FetchStoryTests.page(["a"], 1))
    #expect(story.request.map { Story.name($0.request) } == "fetchZoneChanges")
    story.answer(FetchStoryTests.page([], 2, zone: second))
    #expect(story.log.last == "done")
    #expect(story.machine.state.changedZones.isEmpty)
  }

  /// Proves CE-173.
  @Test("A cancellation and a zone that leaves the scope abandon the page that was read ahead")
  func unneededPageIsAbandoned() {
    var cancelled = story { machine, _, now in
      machine.cancelOperations(waiter: Waiter(number: 9), now: now)
    }
    #expect(
      cancelled.told() == [
        "> fetchZoneChanges", "fetched [\"a\"] []", "abandon",
        "didFetchZone Notes operationCancelled",
        "didFetchChanges", "failed operationCancelled", "done",
      ])
    #expect(cancelled.machine.state.zoneTokens[Story.zone] == nil)
    var narrowed = Story.signedIn()
    narrowed.fetch()
    narrowed.answer(FetchStoryTests.database([Story.zone]))
    narrowed.options = FetchOptions(scope: .zones([]))
    narrowed.log = []
    narrowed.answer(FetchStoryTests.page(["a"], 1, more: true))
    #expect(
      narrowed.told() == [
        "> fetchZoneChanges", "fetched [\"a\"] []", "abandon",
        "didFetchZone Notes operationCancelled",
        "didFetchChanges", "done",
      ])
    #expect(narrowed.machine.state.zoneTokens[Story.zone] == .at(1))
  }

  /// Proves CE-173.
  @Test("A wait that the server asks for early is kept, also if the page is not needed any more")
  func earlyWaitIsKept() {
    let error = CloudError(.requestRateLimited, "", retryAfter: 60)
    for isNarrowed in [false, true] {
      var story = Story.signedIn()
      story.fetch()
      story.answer(FetchStoryTests.database([Story.zone, ZoneID(name: "Other")]))
      let next = RequestToken(number: (story.request?.token.number ?? 0) + 1)
      story.onEvent = { machine, event, now in
        guard case .fetchedZoneChanges = event else { return }
        machine.received(.failure(error), for: next, now: now, jitter: 1)
      }
      if isNarrowed { story.options = FetchOptions(scope: .zones([ZoneID(name: "Other")])) }
      story.log = []
      story.answer(FetchStoryTests.page(["a"], 1, more: true))
      #expect(story.told().last == "failed requestRateLimited", "narrowed: \(isNarrowed)")
      story.now = story.now + .seconds(59)
      story.fetch(2)
      #expect(story.told().contains("failed requestRateLimited"))
      story.now = story.now + .seconds(1)
      story.fetch(3)
      #expect(story.request != nil)
    }
  }
}
