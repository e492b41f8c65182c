import CloudProtocol
import CloudSync
import Foundation
import Records
import SimulationSupport
import Testing

@Suite("Notifications")
struct NotificationTests {
  private func push(_ kind: String, _ details: [String: Any]) -> [AnyHashable: Any] {
    [
      "aps": ["content-available": 1],
      "ck": ["ce": 2, "cid": "iCloud.app", "nid": "n1", "ckuserid": "_u", kind: details],
    ]
  }

  /// Proves CS-100, CS-101.
  @Test("A push creates an object of the matching notification subclass")
  func pushCreatesMatchingNotificationSubclass() throws {
    let details: [String: Any] = [
      "dbs": 3, "sid": "s", "zid": "Z", "zoid": "_o", "fo": 1, "rid": "r",
      "af": ["title": "x", "count": 3, "odd": ["a": 1]],
    ]
    let types: [(String, CKNotification.NotificationType, CKNotification.Type)] = [
      ("met", .database, CKDatabaseNotification.self),
      ("fet", .recordZone, CKRecordZoneNotification.self),
      ("qry", .query, CKQueryNotification.self),
    ]
    for (key, kind, type) in types {
      let found = CKNotification(fromRemoteNotificationDictionary: push(key, details))
      let notification = try #require(found, "\(key)")
      #expect(Swift.type(of: notification) == type && notification.notificationType == kind)
      #expect(notification.subscriptionID == "s" && !notification.isPruned)
      #expect(notification.containerIdentifier == "iCloud.app")
      #expect(notification.subscriptionOwnerUserRecordID == CKRecord.ID(recordName: "_u"))
      let isQuery =
        CKQueryNotification(
          fromRemoteNotificationDictionary: push(key, details)) != nil
      #expect(isQuery == (key == "qry"), "the subclass's initialiser takes its own kind only")
    }
    let found = CKNotification(fromRemoteNotificationDictionary: push("qry", details))
    let query = try #require(found as? CKQueryNotification)
    let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
    #expect(query.recordID == CKRecord.ID(recordName: "r", zoneID: zoneID))
    #expect(query.queryNotificationReason == .recordCreated && query.databaseScope == .shared)
    let fields = try #require(query.recordFields)
    #expect(fields["title"] as? String == "x" && fields["count"] as? Int64 == 3)
    #expect(fields["odd"] == nil && fields.count == 2)
    let zone = CKNotification(fromRemoteNotificationDictionary: push("fet", details))
    #expect((zone as? CKRecordZoneNotification)?.recordZoneID == zoneID)
  }

  @Test("The payload of a transport's push is read as those of the system are")
  func payloadOfPushIsRead() throws {
    let record = RecordID(name: "r", zone: ZoneID(name: "Z"))
    let query = QueryPush(record: record, reason: .deleted, fields: ["text": .string("x")])
    func found(_ zone: ZoneID?, _ query: QueryPush? = nil) -> CKNotification? {
      let push = CloudPush(
        container: "iCloud.app", database: .private, subscription: SubscriptionID("s"), zone: zone,
        query: query)
      return CKNotification(fromRemoteNotificationDictionary: push.userInfo)
    }
    let database = try #require(found(nil) as? CKDatabaseNotification)
    #expect(database.subscriptionID == "s" && database.containerIdentifier == "iCloud.app")
    #expect(database.databaseScope == .private && database.notificationID != nil)
    let zone = try #require(found(record.zone) as? CKRecordZoneNotification)
    #expect(zone.recordZoneID == CKRecordZone.ID(zoneName: "Z"))
    let note = try #require(found(record.zone, query) as? CKQueryNotification)
    #expect(note.recordID?.recordName == "r" && note.queryNotificationReason == .recordDeleted)
    #expect(note.recordFields?["text"] as? String == "x")
  }

  /// Proves CS-100.
  @Test("A push that is not from CloudKit gives nil, and invalid parts are left out")
  func foreignPushGivesNil() {
    let table: [[AnyHashable: Any]] = [
      [:], ["aps": ["alert": "hello"]], ["ck": "text"], ["ck": [:] as [String: Any]],
      ["ck": ["met": 3]], push("xyz", [:]),
    ]
    for dictionary in table {
      if CKNotification(fromRemoteNotificationDictionary: dictionary) != nil {
        Issue.record("\(dictionary) is no push of CloudKit")
      }
    }
    let odd = CKNotification(
      fromRemoteNotificationDictionary: push("qry", ["dbs": 99, "fo": 99, "sid": 5, "rid": 1]))
    #expect(odd?.subscriptionID == nil && (odd as? CKQueryNotification)?.recordID == nil)
    #expect((odd as? CKQueryNotification)?.databaseScope == .private)
  }

  /// Proves CS-101.
  @Test("A query push made by this library is read back, with its fields exact to the bit")
  func generatedQueryPushIsReadBack() throws {
    let record = RecordID(name: "r", zone: ZoneID(name: "Z", owner: "_o"))
    let fields: Fields = [
      "text": .string("e\u{301}"), "number": .int64(.max), "ratio": .double(-0.0),
      "date": .date(Timestamp(secondsSinceReferenceDate: 0.1)),
      "to": .reference(Reference(target: record, action: .none)),
    ]
    for reason in QueryPush.Reason.allCases {
      let push = CloudPush(
        container: "c", database: .public, subscription: SubscriptionID("s"), zone: record.zone,
        query: QueryPush(record: record, reason: reason, fields: fields))
      let dictionary = CKNotification.remoteNotificationDictionary(for: push, notificationID: "n")
      let found = CKNotification(fromRemoteNotificationDictionary: dictionary)
      let query = try #require(found as? CKQueryNotification)
      #expect(query.recordID == CKRecordID(record) && query.databaseScope == .public)
      #expect(query.queryNotificationReason.rawValue == Int(reason.rawValue))
      let read = CKRecord(recordType: "T")
      for (key, value) in query.recordFields ?? [:] { read.setValue(value, forKey: key) }
      #expect(read.value.fields == fields)
    }
  }

  /// Proves CS-101.
  @Test("A push made by this library is read back")
  func generatedPushIsReadBack() throws {
    let zone = ZoneID(name: "Z", owner: "_o")
    let push = CloudPush(
      container: "c", database: .shared, subscription: SubscriptionID("s"), zone: zone)
    let dictionary = CKNotification.remoteNotificationDictionary(for: push, notificationID: "n")
    let found = CKNotification(fromRemoteNotificationDictionary: dictionary)
    let notification = try #require(found as? CKRecordZoneNotification)
    #expect(notification.recordZoneID == CKRecordZoneID(zone))
    #expect(notification.databaseScope == .shared && notification.notificationID != nil)
    let name = try #require(notification.notificationID)
    let data = try NSKeyedArchiver.archivedData(withRootObject: name, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKNotification.ID.self, from: data)
    #expect(name == found?.notificationID && name == read)
  }

  @Test("The parts of a push's alert are read, and an alert that is one text is its body")
  func alertOfPushIsRead() throws {
    func notification(_ aps: [String: Any]) -> CKNotification? {
      let kit: [String: Any] = ["cid": "c", "met": ["dbs": 2, "sid": "s"] as [String: Any]]
      return CKNotification(fromRemoteNotificationDictionary: ["aps": aps, "ck": kit])
    }
    let alert: [String: Any] = [
      "body": "1", "loc-key": "2", "title": "3", "title-loc-key": "4", "subtitle": "5",
      "subtitle-loc-key": "6", "action-loc-key": "7", "launch-image": "8",
      "loc-args": ["a", "b"], "title-loc-args": ["c"], "subtitle-loc-args": ["d"], "odd": 5,
    ]
    let all = notification(["alert": alert, "sound": "9", "category": "10", "badge": 3])
    let short = notification(["alert": "hello"])
    let (whole, text) = (try #require(all), try #require(short))
    let reader = AlertReader.self as any AlertReading.Type
    let texts: [String?] = (1...10).map { "\($0)" }
    let lists: [[String]?] = [["a", "b"], ["c"], ["d"]]
    #expect(reader.texts(of: whole) == texts && reader.lists(of: whole) == lists)
    #expect(reader.badge(of: whole) == 3)
    let body: [String?] = ["hello"] + Array(repeating: nil, count: 9)
    let nothing: [[String]?] = [nil, nil, nil]
    #expect(reader.texts(of: text) == body && reader.lists(of: text) == nothing)
    #expect(reader.badge(of: text) == nil)
  }

  @Test("A push that was pruned says so, and what it leaves out has its default")
  func missingPartsOfPushHaveDefaults() throws {
    func notification(_ kit: [String: Any]) -> CKNotification? {
      CKNotification(fromRemoteNotificationDictionary: ["ck": kit])
    }
    let zone: [String: Any] = ["zid": "Z"]
    let query: [String: Any] = ["zid": "Z", "rid": "r", "fo": 99]
    let (first, second) = (
      notification(["p": 1, "fet": zone]), notification(["p": 0, "qry": query])
    )
    let pruned = try #require(first as? CKRecordZoneNotification)
    #expect(pruned.isPruned && pruned.recordZoneID == CKRecordZone.ID(zoneName: "Z"))
    #expect(pruned.notificationID == nil && pruned.subscriptionOwnerUserRecordID == nil)
    let found = try #require(second as? CKQueryNotification)
    #expect(!found.isPruned && found.queryNotificationReason == .recordUpdated)
    #expect(found.recordFields == nil && found.databaseScope == .private)
    #expect(
      found.description == "<CKQueryNotification: containerIdentifier=none, subscriptionID=none>")
    #expect(CKNotification.ID("a") != CKNotification.ID("b"))
    #expect(CKNotification.ID("a").description == "<CKNotificationID: a>")
  }
}

/// The parts of a push's alert, in an order of their own.
private protocol AlertReading {
  static func texts(of notification: CKNotification) -> [String?]
  static func lists(of notification: CKNotification) -> [[String]?]
  static func badge(of notification: CKNotification) -> Int?
}

private enum AlertReader: AlertReading {
  @available(*, deprecated, message: "they are what is tested")
  static func texts(of notification: CKNotification) -> [String?] {
    [
      notification.alertBody, notification.alertLocalizationKey, notification.title,
      notification.titleLocalizationKey, notification.subtitle,
      notification.subtitleLocalizationKey, notification.alertActionLocalizationKey,
      notification.alertLaunchImage, notification.soundName, notification.category,
    ]
  }

  @available(*, deprecated, message: "they are what is tested")
  static func lists(of notification: CKNotification) -> [[String]?] {
    [
      notification.alertLocalizationArgs, notification.titleLocalizationArgs,
      notification.subtitleLocalizationArgs,
    ]
  }

  @available(*, deprecated, message: "it is what is tested")
  static func badge(of notification: CKNotification) -> Int? { notification.badge?.intValue }
}
