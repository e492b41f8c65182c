import CloudProtocol
import Records

extension CloudCall {
  /// A digest of a mutation's content: equal for a repeated request, different for every other
  /// that a client sends by mistake.
  ///
  /// It is stable across processes, so that a storage can keep it. A client that searches for two
  /// requests with the same digest gets wrong answers only to its own requests.
  ///
  /// The content of an upload and the receipts of assets are omitted: the machine compares the
  /// upload's checksum with its receipt, and a file that was uploaded again is the same file.
  var digest: [UInt8] {
    var writer = ByteWriter(capacity: 1024)
    writer.write(container)
    writer.write(environment.rawValue)
    writer.write(database.rawValue)
    writer.write(contentOf: request)
    return ContentDigest.bytes(of: writer.bytes)
  }

  /// The number of bytes of a digest.
  static let digestLength = 16
}

extension ByteWriter {
  /// Appends the content of a mutation; reads have no digest and append nothing.
  fileprivate mutating func write(contentOf request: CloudRequest) {
    switch request {
    case .modifyZones(let request):
      write(UInt8(0))
      write(list: request.save) { $0.write($1) }
      write(list: request.delete) { $0.write($1) }
    case .modifyRecords(let request):
      write(UInt8(1))
      write(contentOf: request)
    case .modifySubscriptions(let request):
      write(UInt8(2))
      write(list: request.save) { $0.write($1) }
      write(list: request.delete) { $0.write($1.rawValue) }
    case .acceptShares(let urls):
      write(UInt8(3))
      write(list: urls) { $0.write($1) }
    case .uploadAsset(let request):
      write(UInt8(4))
      write(request.recordType)
      write(request.key)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      break
    }
  }

  private mutating func write(contentOf request: ModifyRecords) {
    write(list: request.save) { $0.write(contentOf: $1) }
    write(list: request.delete) { writer, id in
      writer.write(id)
      writer.write(optional: request.deleteTags[id]) { $0.write($1.rawValue) }
    }
    write(request.policy.rawValue)
    write(request.isAtomic)
    switch request.fields {
    case .all: write(UInt8(0))
    case .none: write(UInt8(1))
    case .keys(let keys):
      write(UInt8(2))
      write(list: keys) { $0.write($1) }
    }
  }

  private mutating func write(contentOf save: RecordSave) {
    write(save.id)
    write(save.type)
    write(optional: save.changeTag) { $0.write($1.rawValue) }
    write(list: save.changes) { writer, change in
      writer.write(change.key)
      writer.write(optional: change.field) { writer, field in
        writer.write(field.isEncrypted)
        writer.write(field.value.holdsAssets ? field.value.withoutReceipts : field.value)
      }
    }
    switch save.parent {
    case .keep: write(false)
    case .set(let parent):
      write(true)
      write(optional: parent) { $0.write($1) }
    }
    write(optional: save.sharing) { $0.write($1) }
    write(optional: save.policy) { $0.write($1.rawValue) }
    write(save.clearsOtherFields)
  }
}

extension FieldValue {
  /// The value with assets reduced to their checksums.
  fileprivate var withoutReceipts: FieldValue {
    switch self {
    case .asset(let asset): .asset(Asset(checksum: asset.checksum, size: asset.size))
    case .list(let values): .list(values.map(\.withoutReceipts))
    case .string, .int64, .double, .date, .bytes, .reference, .location: self
    }
  }
}

/// A hash of 128 bits that takes two multiplications for 16 bytes.
///
/// It detects accidental differences; it does not resist an attack.
private enum ContentDigest {
  private static let first: UInt64 = 0x9e37_79b9_7f4a_7c15
  private static let second: UInt64 = 0xc2b2_ae3d_27d4_eb4f

  static func bytes(of content: [UInt8]) -> [UInt8] {
    var (low, high) = (first, UInt64(content.count) ^ second)
    content.withUnsafeBytes { bytes in
      var offset = 0
      while offset + 16 <= bytes.count {
        mix(
          bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian,
          bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self).littleEndian, &low, &high
        )
        offset += 16
      }
      var rest: (UInt64, UInt64) = (0, 0)
      for (index, byte) in bytes[offset...].enumerated() {
        let value = UInt64(byte) << (8 * UInt64(index % 8))
        if index < 8 { rest.0 |= value } else { rest.1 |= value }
      }
      mix(rest.0, rest.1, &low, &high)
    }
    // Also mixes the last words into both halves.
    mix(first, second, &low, &high)
    mix(second, first, &low, &high)
    return [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
  }

  /// Takes in two words.
  private static func mix(_ word: UInt64, _ next: UInt64, _ low: inout UInt64, _ high: inout UInt64)
  {
    let one = (low ^ word).multipliedFullWidth(by: first | 1)
    let two = (high ^ next).multipliedFullWidth(by: second | 1)
    low = (one.high ^ two.low) &+ high.rotated
    high = (two.high ^ one.low) &+ word
  }
}

extension UInt64 {
  /// The bits moved by 29 places, around the end.
  fileprivate var rotated: UInt64 { self << 29 | self >> 35 }
}
