import CloudProtocol
import CloudSync
import Foundation
import IdeaStore
import LoopbackServer
import Records
import Synchronization
import Testing

@Suite("What is new without a change feed", .timeLimit(.minutes(20)))
struct IdeaIncrementalTests {
  /// The server's clock.
  let wall = SetClock()
  let server: LoopbackServer

  init() {
    let wall = wall
    server = LoopbackServer(clock: {
      Timestamp(secondsSinceReferenceDate: wall.now.timeIntervalSinceReferenceDate)
    })
  }

  private func pair() async throws -> (phone: IdeaDevice, tablet: IdeaDevice) {
    let phone = try IdeaDevice(server, "phone")
    let tablet = try IdeaDevice(server, "tablet", wall: SetClock(SetClock.noon - 7_200))
    try await phone.begin()
    try await tablet.begin()
    return (phone, tablet)
  }

  @Test("I: An idea of a device with a slow clock is found, though the design's query misses it")
  func lateClockIdeaIsFound() async throws {
    let (phone, tablet) = try await pair()
    try tablet.store.create(title: "in time")
    await phone.status { _ in phone.store.ideas.count == 1 }
    await phone.pass()
    let lastSync = try #require(phone.store.status.lastSync)
    server.controls.dropPushes(next: 10)
    wall.move(by: 600)
    let late = try tablet.store.create(title: "two hours late")
    await tablet.status(\.isDone)
    let seen = try await phone.store.page(of: .changed(since: lastSync))
    #expect(seen.ideas.isEmpty && late.updatedAt < lastSync)
    await phone.pass()
    #expect(phone.store.ideas.count == 2 && phone.store.idea(late.id) == late)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: Ideas with equal times at the edge of a page are all found")
  func equalTimesAtPageEdgeHideNothing() async throws {
    // The server's clock stands still: all carry one date of change, over several pages and passes.
    let phone = try IdeaDevice(server, "phone", through: { OtherClock($0) { _ in 1_000 } })
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    server.controls.dropPushes(next: 10_000)
    for (round, number) in [130, 90, 30].enumerated() {
      for index in 0..<number { try tablet.store.create(title: "\(round) \(index)") }
      await tablet.status(\.isDone)
      await phone.pass()
      #expect(phone.store.canonicalText == tablet.store.canonicalText, "round \(round)")
    }
    #expect(phone.store.ideas.count == 250)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A deletion is found by push at once, and otherwise by comparing names")
  func deletionIsFoundByPushOrComparison() async throws {
    let (phone, tablet) = try await pair()
    let ideas = try (0..<3).map { try tablet.store.create(title: "idea \($0)") }
    await phone.status { _ in phone.store.ideas.count == 3 }
    try tablet.store.delete(ideas[0].id)
    await phone.status { _ in phone.store.ideas.count == 2 }
    server.controls.dropPushes(next: 10)
    try tablet.store.delete(ideas[1].id)
    await tablet.status(\.isDone)
    await phone.pass()
    #expect(phone.store.ideas.count == 2, "a query can't tell of it")
    phone.wall.move(by: 3_600)
    await phone.pass()
    #expect(phone.store.ideas == [ideas[2]])
    // A push that lost its name, as after a gap, compares at once; so does a sync by hand.
    server.controls.dropPushes(next: 10)
    try tablet.store.delete(ideas[2].id)
    await tablet.status(\.isDone)
    phone.store.receivedPush(recordName: nil)
    await phone.status { _ in phone.store.ideas.isEmpty }
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A late index neither hides an idea for good nor deletes one")
  func lateIndexNeitherHidesNorDeletes() async throws {
    let ways = Mutex<[LateIndex]>([])
    let phone = try IdeaDevice(
      server, "phone",
      through: { device in
        let way = LateIndex(device)
        ways.withLock { $0.append(way) }
        return way
      })
    let index = try #require(ways.withLock { $0.first })
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    server.controls.dropPushes(next: 100)
    let slow = try tablet.store.create(title: "slow")
    index.hide(slow.id)
    await tablet.status(\.isDone)
    wall.move(by: 30)
    let quick = try tablet.store.create(title: "quick")
    await tablet.status(\.isDone)
    await phone.pass()
    #expect(phone.store.ideas == [quick])
    index.showAll()
    await phone.pass()
    #expect(Set(phone.store.ideas) == [quick, slow])
    // Not shown by the comparison of all names, and yet not deleted: a fetch by ID decides.
    index.hide(slow.id)
    try await phone.store.syncNow()
    #expect(Set(phone.store.ideas) == [quick, slow])
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: what the server changed after its clock was set back is found by comparing")
  func serverClockGoesBack() async throws {
    let later = Mutex(Set<String>())
    let phone = try IdeaDevice(
      server, "phone",
      through: { device in
        OtherClock(device) { record in
          1_000_000 - (later.withLock { $0.contains(record.id.name) } ? 86_400 : 0)
        }
      })
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    try tablet.store.create(title: "a")
    await phone.status { _ in phone.store.ideas.count == 1 }
    await phone.pass()
    server.controls.dropPushes(next: 100)
    let idea = try tablet.store.create(title: "yesterday")
    later.withLock { _ = $0.insert(idea.id.uuidString) }
    await tablet.status(\.isDone)
    await phone.pass()
    #expect(phone.store.idea(idea.id) == nil, "its date of change is long past")
    try await phone.store.syncNow()
    #expect(phone.store.idea(idea.id) == idea)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A pass without changes requests one page and sends nothing")
  func passWithoutChangesAsksOnePage() async throws {
    let (phone, tablet) = try await pair()
    for number in 0..<120 { try tablet.store.create(title: "idea \(number)") }
    await tablet.status(\.isDone)
    await phone.status { _ in phone.store.ideas.count == 120 }
    wall.move(by: 3_000)
    try tablet.store.create(title: "the last")
    await phone.status { _ in phone.store.ideas.count == 121 }
    // The idea is there before the pass that the push began has ended.
    await phone.rest()
    await phone.pass()
    server.controls.forgetRequests()
    await phone.pass()
    let phones = server.controls.requests.filter { $0.device == "phone" }
    #expect(
      phones.map(\.kind) == [.fetchCurrentUser, .queryRecords, .fetchCurrentUser], "\(phones)")
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: The four queries return pages of 100, each in its order")
  func queriesPageBy100InOrder() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    var all: [Idea] = []
    for number in 0..<250 {
      phone.wall.move(by: 1)
      all.append(try phone.store.create(title: "idea \(number)"))
    }
    for number in stride(from: 0, to: 250, by: 50) {
      phone.wall.move(by: 1)
      all[number] = try phone.store.update(all[number].id, isCompleted: true)
    }
    try await phone.store.syncNow()
    func pages(_ query: IdeaQuery) async throws -> [[Idea]] {
      var pages = [try await phone.store.page(of: query)]
      while let cursor = pages.last?.cursor {
        pages.append(try await phone.store.page(of: query, after: cursor))
      }
      return pages.map(\.ideas)
    }
    let newestFirst = all.sorted { $0.updatedAt > $1.updatedAt }
    let everything = try await pages(.all)
    #expect(everything.map(\.count) == [100, 100, 50])
    #expect(everything.flatMap(\.self) == newestFirst && phone.store.ideas == newestFirst)
    #expect(try await pages(.completed) == [newestFirst.filter(\.isCompleted)])
    let since = all[200].createdAt
    let changed = try await pages(.changed(since: since)).flatMap(\.self)
    #expect(changed == newestFirst.reversed().filter { $0.updatedAt > since })
    #expect(changed.count == 54)
    #expect(try await pages(.id(all[7].id)) == [[all[7]]])
    #expect(try await pages(.id(UUID())) == [[]])
    await phone.store.stop()
  }
}
