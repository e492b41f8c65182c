import AchievementStore
import AnnotationStore
import ClipboardStore
import CloudSync
import Foundation
import GameResultStore
import IdeaStore
import LeaderboardStore
import LoopbackServer
import SyncSupport
import SyncedStore
import TabStore
import Testing

// The examples of the stores' pages, with the names that they use. A rule compares them with the
// pages.

private func device(
  _ account: String = "ada", _ server: LoopbackServer = LoopbackServer()
) -> CKContainer {
  CKContainer(
    identifier: "iCloud.example", transport: server.device(account, signedInAs: account))
}

@Test func tabsAreAddedAndSynced() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let store = try SyncedStore.itsypad(directory: folder)
  let tabs = TabStore(store)
  store.connect(to: container)
  try store.setEnabled(true)  // later launches: try store.startIfEnabled()
  let tab = ScratchTab(id: UUID(), name: "Ideas", content: "", lastModified: Date())
  try tabs.add(tab)  // on disk, and pending
  try tabs.updateContent(tab.id, "Buy milk", now: Date())
  try await store.sync()
  #expect(tabs.unsentCount == 0)
  try await store.shutDown()
}

@Test func theClipboardSharesTheEngineOfTheTabs() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let store = try SyncedStore.itsypad(directory: folder)
  let clipboard = ClipboardStore(store)
  try store.start(container)
  try clipboard.add(ClipboardEntry(id: UUID(), text: "copied", timestamp: Date()))
  try clipboard.prune(olderThan: 30 * 86_400, now: Date())
  let shown = clipboard.entries  // newest first
  #expect(shown.map(\.text) == ["copied"])
  try await store.shutDown()
}

@Test func aPastedResultIsAddedAndSynced() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let pasted = "Wordle 1,963 3/6"
  let store = try GameResultStore(directory: folder, container: container)
  try store.start()  // in the foreground
  let result = try store.add(sharedText: pasted)  // on disk when it returns
  print(result.gameName, result.score.map { "\($0)" } ?? "X")
  for streak in store.streaks() { print(streak.gameName, streak.currentStreak) }
  try await store.syncNow()
  if store.results.isEmpty { print(store.status.emptyText) }
  if let notice = store.status.notice { print(notice) }
  await store.stop()  // in the background
  #expect(store.results == [result] && store.status.waiting == 0)
}

@Test func progressIsNotedAndSynced() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let store = try AchievementStore(directory: folder, container: container)
  try store.startIfEnabled()
  await store.syncIfEnabled()  // does nothing while it is off
  try store.note(progress: 8, of: AchievementDefinition.all[0].id)
  try store.setEnabled(true)
  try await store.sync()
  print(store.status.text)
  try await store.shutDown()
  #expect(!store.status.isUnsent)
}

@Test func aScoreIsPublishedAndALeaderboardIsShared() async throws {
  let server = LoopbackServer()
  let container = device("ada", server)
  let friend = try await device("ben", server).userRecordID().recordName
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let score = DailyScore(
    gameId: "wordle", dateInt: 20_261_103, score: 3, maxAttempts: 6, completed: true,
    publishedAt: Date())
  let social = try HybridSocialService(directory: folder, container: container)
  try await social.setupRealTimeSubscriptions()
  let profile = try await social.ensureProfile(displayName: "Ada")
  try await social.publishDailyScores([score])  // also succeeds without a connection
  print(profile.displayName, social.serviceStatus.displayName)  // "Ada Real-time Sync"
  let board = try await social.createLeaderboard(title: "Family")
  let link = try await social.invite(friend, to: board.id)  // send it to them
  let rows = try await social.fetchLeaderboard(LeaderboardQuery(leaderboard: board.id))
  #expect(rows.map(\.displayName) == ["Ada"] && !link.absoluteString.isEmpty)
  try await social.shutDown()
}

@Test func anIdeaIsCreatedAndSynced() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let vendorID = "phone"
  let userInfo: [AnyHashable: Any] = [:]
  let store = try IdeaStore(directory: folder, container: container, deviceID: vendorID)
  store.start()
  let idea = try store.create(title: "陽台雨量計", description: "每天早上記一筆")  // on disk now
  try store.update(idea.id, isCompleted: true)
  let status = try await store.syncNow()
  print(store.ideas.map(\.title), status.message ?? "synced")  // also see statusUpdates
  // In the app's delegate:
  store.didReceiveRemoteNotification(userInfo)
  store.trigger(.enteredForeground)  // and .networkRecovered
  #expect(store.ideas.map(\.isCompleted) == [true])
  await store.stop()
}

@Test func anAnnotationIsAddedAndItsLayerIsShared() async throws {
  let container = device()
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  let photo = folder.appendingPathComponent("door.jpg")
  try Data("picture".utf8).write(to: photo)
  let link = SimulatedLink()
  let store = try AnnotationStore(directory: folder, container: container)
  let coordinator = AnnotationCoordinator(store: store, network: NetworkMonitor(link))
  await coordinator.startSync()  // now, then every 60 s
  let layer = try store.addLayer(named: "House")
  let note = try store.add(.init(title: "Door", position: [1, 2, 0]), to: layer.id)
  try store.attach(photo, to: note.id)  // copied, sent with the next sync
  try store.setStrategy(.perField(["content": .manual]).orElse(.lastWriteWins))
  for conflict in store.conflicts { try store.resolve(conflict.id, use: .mine) }
  try await coordinator.syncNow()
  let url = try await store.share(layer.id, with: [.anyoneWithLink], mayWrite: true)
  print(url, coordinator.syncStatus)  // idle, syncing, error, offline; also see statusUpdates
  #expect(store.shareURL(of: layer.id) == url)
  await coordinator.stopSync()
}

@Test func aDamagedFileIsSetAside() throws {
  let temporary = try TemporaryFolder()
  let folder = temporary.url
  try Data("damaged".utf8).write(to: folder.appendingPathComponent("cloud-record-metadata.json"))
  let store: SyncedStore
  do {
    store = try .itsypad(directory: folder)
  } catch let error as FileError where error.step == .understand {
    print(error)  // "cannot understand .../cloud-record-metadata.json: ..."
    store = try .itsypad(directory: folder, recovering: true)
    for recovery in store.recoveries { print(recovery) }
  }
  #expect(store.recoveries.count == 1)
}
