import CloudProtocol
import Records

/// The binary form of a reply, stored in the server's file to answer a repeated request.
extension ByteWriter {
  mutating func write(_ reply: CloudReply) {
    switch reply {
    case .currentUser(let user):
      write(UInt8(0))
      write(user.rawValue)
    case .databaseChanges(let page):
      write(UInt8(1))
      write(list: page.modified) { $0.write($1) }
      write(list: page.deleted) {
        $0.write($1.zone)
        $0.write($1.reason.rawValue)
      }
      write(page.token.bytes)
      write(page.moreComing)
    case .zoneChanges(let page):
      write(UInt8(2))
      write(page.zone)
      write(list: page.modified) { $0.write($1) }
      write(list: page.deleted) {
        $0.write($1.id)
        $0.write($1.type)
      }
      write(page.token.bytes)
      write(page.moreComing)
    case .zones(let results):
      write(UInt8(3))
      write(results, id: { $0.write($1) }, value: { $0.write($1) })
    case .zonesModified(let saved, let deleted):
      write(UInt8(4))
      write(saved, id: { $0.write($1) }, value: { $0.write($1) })
      write(deleted, id: { $0.write($1) }, value: { _, _ in })
    case .records(let results):
      write(UInt8(5))
      write(results, id: { $0.write($1) }, value: { $0.write($1) })
    case .recordsModified(let saved, let deleted):
      write(UInt8(6))
      write(saved, id: { $0.write($1) }, value: { $0.write($1) })
      write(deleted, id: { $0.write($1) }, value: { _, _ in })
    case .subscriptions(let results):
      write(UInt8(7))
      write(results, id: { $0.write($1.rawValue) }, value: { $0.write($1) })
    case .subscriptionsModified(let saved, let deleted):
      write(UInt8(8))
      write(saved, id: { $0.write($1.rawValue) }, value: { $0.write($1) })
      write(deleted, id: { $0.write($1.rawValue) }, value: { _, _ in })
    case .queried, .sharesResolved, .sharesAccepted, .usersFound, .assetUploaded, .assetContent:
      write(found: reply)
    }
  }

  /// The kinds of reply that were added with queries, shares and files.
  private mutating func write(found reply: CloudReply) {
    switch reply {
    case .queried(let page):
      write(UInt8(9))
      write(list: page.records) { $0.write($1) }
      write(optional: page.cursor) { $0.write($1.bytes) }
    case .sharesResolved(let results):
      write(UInt8(10))
      write(results, id: { $0.write($1) }, value: { $0.write($1) })
    case .sharesAccepted(let results):
      write(UInt8(11))
      write(results, id: { $0.write($1) }, value: { $0.write($1) })
    case .usersFound(let results):
      write(UInt8(12))
      write(results, id: { $0.write($1) }, value: { $0.write($1) })
    case .assetUploaded(let asset):
      write(UInt8(13))
      write(FieldValue.asset(asset))
    case .assetContent(let content):
      write(UInt8(14))
      // Only replies to changes are kept, and no change returns a file.
      write(content.isInMemory ? (try? content.bytes()) ?? [] : [])
    case .currentUser, .databaseChanges, .zoneChanges, .zones, .zonesModified, .records,
      .recordsModified, .subscriptions, .subscriptionsModified:
      write(reply)
    }
  }

  mutating func write(_ error: CloudError) {
    write(variable: UInt64(error.code.rawValue))
    write(error.message)
    write(optional: error.retryAfter) { $0.write($1) }
    write(optional: error.serverRecord) { $0.write($1) }
    // One byte, with the flag in its lowest bit, as it was before there were obstacles.
    let obstacle: UInt8 =
      switch error.accountObstacle {
      case nil: 0
      case .restricted: 2
      case .undetermined: 4
      }
    write(obstacle | (error.userDidResetEncryptedData ? 1 : 0))
  }

  private mutating func write(_ zone: Zone) {
    write(zone.id)
    write(variable: UInt64(zone.capabilities.rawValue))
    write(optional: zone.share) { $0.write($1) }
  }

  private mutating func write<ID, Value>(
    _ results: [ItemResult<ID, Value>], id: (inout ByteWriter, ID) -> Void,
    value: (inout ByteWriter, Value) -> Void
  ) {
    write(list: results) { writer, result in
      id(&writer, result.id)
      switch result.outcome {
      case .success(let success):
        writer.write(true)
        value(&writer, success)
      case .failure(let error):
        writer.write(false)
        writer.write(error)
      }
    }
  }
}
