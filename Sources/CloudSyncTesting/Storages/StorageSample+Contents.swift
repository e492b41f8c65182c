package import CloudMachine

extension StorageSample {
  /// Everything that can be read from a storage about the sample's databases, as comparable lines.
  package static func rows(of storage: any CloudStorage, names: [String]) throws -> [String] {
    var lines: [String] = try storage.accounts().map { "\($0)" }
    for user in ["_alice", "_bob"] {
      lines.append("\(String(describing: try storage.account(UserID(user))))")
      lines.append("\(String(describing: try storage.account(named: user)))")
      for device in ["phone", "tablet"] {
        for name in names {
          let key = ReceiptKey(user: UserID(user), device: device, requestID: name)
          lines.append("\(String(describing: try storage.receipt(key)))")
        }
      }
    }
    for environment in CloudEnvironment.allCases {
      lines += try storage.recordTypes(of: "c", in: environment).map { "\($0)" }
      lines.append("\(String(describing: try storage.schema(of: "c", in: environment)))")
    }
    for name in names {
      lines.append("\(String(describing: try storage.upload(name)))")
      lines.append("\(name): \(String(describing: try storage.assetContent(name)))")
    }
    for time in [-1, 100, 1e9] {
      let time = Timestamp(secondsSinceReferenceDate: time)
      lines.append("\(try storage.uploads(through: time, limit: 5))")
    }
    for database in [alice, bob, everyone] {
      lines.append("\(try storage.subscriptionHomes(of: database))")
      for (zone, after) in [(zoneA, nil), (zoneA, "n3"), (zoneB, nil)] {
        lines += try storage.records(ofType: "T", in: zone, of: database, after: after, limit: 4)
          .map { "\($0)" }
      }
      lines.append("\(String(describing: try storage.database(database)))")
      lines += try storage.zones(in: database).map { "\($0)" }
      lines += try storage.subscriptions(in: database).map { "\($0)" }
      lines.append("\(String(describing: try storage.subscription(.init("n1"), in: database)))")
      for after: UInt64 in [0, 7, .max] {
        for limit in [0, 2, 100] {
          lines += try storage.zoneChanges(in: database, after: after, limit: limit).map { "\($0)" }
          for zone in [zoneA, zoneB] {
            lines += try storage.recordChanges(of: zone, in: database, after: after, limit: limit)
              .map { "\($0)" }
          }
        }
      }
      for zone in [zoneA, zoneB] {
        lines.append("\(String(describing: try storage.zone(zone, in: database)))")
        for name in names {
          let id = RecordID(name: name, zone: zone)
          lines.append("\(String(describing: try storage.record(id, in: database)))")
          lines.append("\(name) <- \(try storage.links(to: id, in: database))")
        }
      }
    }
    return lines
  }
}
