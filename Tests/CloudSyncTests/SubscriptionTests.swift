import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@Suite("Subscriptions: queries")
struct SubscriptionTests {
  private func subscription(_ predicate: NSPredicate) -> CKQuerySubscription {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: predicate, subscriptionID: "q",
      options: [.firesOnRecordCreation, .firesOnce])
    subscription.zoneID = CKRecordZone.ID(zoneName: "Z")
    subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "new")
    return subscription
  }

  /// Proves CS-102.
  @Test("A query subscription keeps its parts, in copies and archives too")
  func querySubscriptionKeepsParts() throws {
    let original = subscription(NSPredicate(value: true))
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: original, requiringSecureCoding: true)
    let archived = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: CKQuerySubscription.self, from: data)
    let copy = original.copy() as? CKQuerySubscription
    original.notificationInfo = nil
    for found in [try #require(archived), try #require(copy)] {
      #expect(found.subscriptionID == "q" && found.subscriptionType == .query)
      #expect(found.recordType == "Note" && found.zoneID?.zoneName == "Z")
      #expect(found.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnce])
      #expect(found.predicate == NSPredicate(value: true))
      #expect(found.notificationInfo?.alertBody == "new")
    }
    let unnamed = CKQuerySubscription(recordType: "Note", predicate: NSPredicate(value: true))
    #expect(unnamed.querySubscriptionOptions.rawValue == 7 && !unnamed.subscriptionID.isEmpty)
  }

  @Test("An archived subscription keeps a predicate that CloudKit refuses, and is refused, too")
  func archivedSubscriptionKeepsRefusedPredicate() throws {
    let refused = [
      NSPredicate(format: "owner == 'me' OR shared == 1"), NSPredicate { _, _ in true },
      NSPredicate(format: "owner LIKE 'm*'"),
    ]
    for predicate in refused {
      let original = subscription(predicate)
      #expect(throws: CKError.self) { try original.checkedValue() }
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: original, requiringSecureCoding: true)
      let archived = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data))
      #expect(throws: CKError.self) { try archived.checkedValue() }
    }
  }

  @Test("An archive of a subscription of another class is none")
  func archiveOfAnotherClassIsNone() throws {
    let subscriptions: [CKSubscription] = [
      subscription(NSPredicate(value: true)), CKDatabaseSubscription(subscriptionID: "d"),
      CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z"),
    ]
    for one in subscriptions {
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      one.encode(with: archiver)
      archiver.finishEncoding()
      func decoder() throws -> NSKeyedUnarchiver {
        try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
      }
      let read: [CKSubscription?] = [
        CKQuerySubscription(coder: try decoder()), CKDatabaseSubscription(coder: try decoder()),
        CKRecordZoneSubscription(coder: try decoder()),
      ]
      #expect(read.compactMap(\.?.subscriptionID) == [one.subscriptionID])
    }
  }

  @Test("A subscription has a copy of the settings that it was given, and its own can be changed")
  func subscriptionCopiesNotificationInfo() {
    let info = CKSubscription.NotificationInfo(alertBody: "first")
    let first = CKDatabaseSubscription(subscriptionID: "1")
    first.notificationInfo = info
    info.alertBody = "second"
    let second = CKDatabaseSubscription(subscriptionID: "2")
    second.notificationInfo = info
    #expect(first.value.notificationInfo?.alertBody == "first")
    #expect(second.value.notificationInfo?.alertBody == "second")
    second.notificationInfo?.alertBody = "third"
    #expect(second.value.notificationInfo?.alertBody == "third" && info.alertBody == "second")
  }

  @Test("The predicate becomes a query when the subscription is sent, and a block is refused")
  func subscriptionPredicateBecomesQuery() throws {
    let zone = ZoneID(name: "Z")
    let table: [(NSPredicate, [Query.Filter])] = [
      (NSPredicate(value: true), []),
      (
        NSPredicate(format: "title BEGINSWITH %@ AND count > %d", "a", 3),
        [
          Query.Filter(key: "title", comparator: .beginsWith, value: .string("a")),
          Query.Filter(key: "count", comparator: .greaterThan, value: .int64(3)),
        ]
      ),
    ]
    for (predicate, filters) in table {
      let own = subscription(predicate)
      let sent = try own.checkedValue()
      let expected = QuerySubscription(
        query: Query(recordType: "Note", filters: filters), zone: zone,
        options: [.firesOnRecordCreation, .firesOnce])
      #expect(sent.kind == .query(expected))
      let face = try #require(CKSubscription.face(sent) as? CKQuerySubscription)
      #expect(face.recordType == "Note" && face.predicate != NSPredicate(value: false))
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: own, requiringSecureCoding: true)
      let archived = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data))
      for found in [face, archived] {
        let again = CKQuerySubscription(
          recordType: "Note", predicate: found.predicate)
        guard case .query(let watched) = try again.checkedValue().kind else {
          Issue.record("a query subscription became something else")
          continue
        }
        #expect(watched.query.filters == filters, "the rebuilt predicate means the same")
      }
    }
    let block = subscription(NSPredicate(block: { _, _ in true }))
    #expect(throws: CKError.self) { try block.checkedValue() }
    #expect((block.copy() as? CKQuerySubscription)?.predicate === block.predicate)
  }

  @Test("A subscription with a predicate that CloudKit refuses cannot be saved")
  func subscriptionWithRefusedPredicateIsNotSaved() async throws {
    let server = LoopbackServer()
    let transport = server.device("phone", signedInAs: "alice")
    let database = CKContainer(identifier: "iCloud.t", transport: transport).privateCloudDatabase
    let refused = subscription(NSPredicate(format: "a == 1 OR b == 2"))
    let error = await #expect(throws: CKError.self) { try await database.save(refused) }
    #expect(error?.code == .invalidArguments)
    _ = try await database.save(CKRecordZone(zoneName: "Z"))
    let saved = try await database.save(subscription(NSPredicate(format: "title == %@", "x")))
    let fetched = try await database.subscription(for: "q") as? CKQuerySubscription
    #expect(saved is CKQuerySubscription && fetched?.recordType == "Note")
    #expect(fetched?.zoneID?.zoneName == "Z" && fetched?.notificationInfo?.alertBody == "new")
  }

  @Test("Each setting of a push is kept under its name, and removed by nil")
  func pushSettingsAreKeptByName() {
    typealias Info = CKSubscription.NotificationInfo
    let texts: [(ReferenceWritableKeyPath<Info, String?>, String)] = [
      (\.alertLocalizationKey, "alertLocalizationKey"), (\.title, "title"),
      (\.titleLocalizationKey, "titleLocalizationKey"), (\.subtitle, "subtitle"),
      (\.subtitleLocalizationKey, "subtitleLocalizationKey"),
      (\.alertActionLocalizationKey, "alertActionLocalizationKey"),
      (\.alertLaunchImage, "alertLaunchImage"), (\.soundName, "soundName"),
      (\.category, "category"), (\.collapseIDKey, "collapseIDKey"),
    ]
    for (path, name) in texts {
      let info = Info()
      info[keyPath: path] = "x"
      let expected: Fields = [name: .string("x")]
      #expect(info.value.others == expected && info[keyPath: path] == "x", "\(name)")
      info[keyPath: path] = nil
      #expect(info.value.others.isEmpty && info[keyPath: path] == nil, "\(name)")
    }
    let lists: [(ReferenceWritableKeyPath<Info, [String]?>, String)] = [
      (\.alertLocalizationArgs, "alertLocalizationArgs"),
      (\.titleLocalizationArgs, "titleLocalizationArgs"),
      (\.subtitleLocalizationArgs, "subtitleLocalizationArgs"),
    ]
    for (path, name) in lists {
      let info = Info()
      info[keyPath: path] = ["x", "y"]
      let expected: Fields = [name: .list([.string("x"), .string("y")])]
      #expect(info.value.others == expected && info[keyPath: path] == ["x", "y"], "\(name)")
      info[keyPath: path] = []
      #expect(info.value.others.isEmpty && info[keyPath: path] == nil, "\(name)")
    }
  }

  @Test("Each setting of a push can be given when its settings are created")
  func pushSettingsAreGivenAtCreation() {
    let info = CKSubscription.NotificationInfo(
      alertBody: "1", alertLocalizationKey: "2", alertLocalizationArgs: ["a"], title: "3",
      titleLocalizationKey: "4", titleLocalizationArgs: ["b"], subtitle: "5",
      subtitleLocalizationKey: "6", subtitleLocalizationArgs: ["c"],
      alertActionLocalizationKey: "7", alertLaunchImage: "8", soundName: "9", desiredKeys: ["d"],
      shouldBadge: true, shouldSendContentAvailable: true, shouldSendMutableContent: true,
      category: "10", collapseIDKey: "11")
    let texts: [String?] = [
      info.alertBody, info.alertLocalizationKey, info.title, info.titleLocalizationKey,
      info.subtitle, info.subtitleLocalizationKey, info.alertActionLocalizationKey,
      info.alertLaunchImage, info.soundName, info.category, info.collapseIDKey,
    ]
    let numbers: [String?] = (1...11).map { "\($0)" }
    let lists: [[String]?] = [
      info.alertLocalizationArgs, info.titleLocalizationArgs, info.subtitleLocalizationArgs,
      info.desiredKeys,
    ]
    let letters: [[String]?] = [["a"], ["b"], ["c"], ["d"]]
    #expect(texts == numbers && lists == letters)
    #expect(info.shouldBadge && info.shouldSendContentAvailable && info.shouldSendMutableContent)
    info.desiredKeys = nil
    let plain = CKSubscription.NotificationInfo()
    #expect(info.desiredKeys == [] && plain.desiredKeys == [] && plain.alertBody == nil)
    #expect(!plain.shouldBadge && !plain.shouldSendContentAvailable)
    #expect(!plain.shouldSendMutableContent)
  }

  @Test("The record type of a database's subscription and the zone of a query's can be changed")
  func subscriptionPartsCanBeChanged() {
    let database = CKDatabaseSubscription(subscriptionID: "d")
    #expect(database.recordType == nil)
    database.recordType = "Note"
    #expect(database.recordType == "Note" && database.value.kind == .database(recordType: "Note"))
    #expect(
      database.description == "<CKDatabaseSubscription: subscriptionID=d, type=database>")
    let query = subscription(NSPredicate(value: true))
    query.zoneID = nil
    #expect(query.zoneID == nil && query.recordType == "Note")
    let zone = CKRecordZoneSubscription(
      zoneID: CKRecordZone.ID(zoneName: "Z"), subscriptionID: "z")
    zone.recordType = "Note"
    zone.recordType = nil
    #expect(zone.recordType == nil && zone.zoneID.zoneName == "Z")
    #expect(zone.subscriptionType == .recordZone)
  }
}
