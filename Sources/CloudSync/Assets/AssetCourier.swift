import CloudProtocol
import Records
import Synchronization

/// Carries requests to the server, and the files that belong to records with them.
///
/// Before records are saved, the files they hold are uploaded; after records were read, their
/// files are downloaded into fresh files of this device. Requests without files pass as they are.
/// Everything a container sends goes through here: databases, operations and engines alike.
/// Source: cloudkit-surface 1.4.
final class AssetCourier: CloudTransport {
  /// How many files are under way at once; each is in memory as a whole meanwhile.
  static let filesAtOnce = 4

  let transport: any CloudTransport
  let staging: AssetStaging

  init(_ transport: any CloudTransport, staging: AssetStaging = .shared) {
    self.transport = transport
    self.staging = staging
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    transport.observeSignals(listener)
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    switch call.request {
    case .modifyRecords(let request): try await save(request, call)
    case .fetchRecords, .fetchZoneChanges, .queryRecords, .resolveShares, .acceptShares:
      try await withFiles(try await transport.send(call), of: call)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZones, .modifyZones,
      .fetchSubscriptions, .modifySubscriptions, .findUsers, .uploadAsset, .downloadAsset:
      try await transport.send(call)
    }
  }

  /// Runs `work` on each of `items`, a few at a time; the first error ends it.
  func forEach<Item: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) async -> CloudError?
  ) async throws(CloudError) {
    let failure = await withTaskGroup(of: CloudError?.self) { group in
      var failure: CloudError?
      var rest = items[...]
      for item in rest.prefix(AssetCourier.filesAtOnce) { group.addTask { await work(item) } }
      rest = rest.dropFirst(AssetCourier.filesAtOnce)
      while let error = await group.next() {
        if failure == nil, let error { failure = error }
        if failure == nil, let item = rest.popFirst() { group.addTask { await work(item) } }
      }
      return failure
    }
    if let failure { throw failure }
  }
}

extension FieldValue {
  /// Whether there is a file in the value.
  var hasAssets: Bool {
    switch self {
    case .asset: true
    case .list(let values): values.contains { $0.hasAssets }
    case .string, .int64, .double, .date, .bytes, .reference, .location: false
    }
  }

  /// The value with every asset in it replaced.
  func mappingAssets(_ replace: (Asset) -> Asset) -> FieldValue {
    switch self {
    case .asset(let asset): .asset(replace(asset))
    case .list(let values): .list(values.map { $0.mappingAssets(replace) })
    case .string, .int64, .double, .date, .bytes, .reference, .location: self
    }
  }
}

extension Record {
  /// Whether any field holds an asset.
  var hasAssets: Bool { fields.contains { $0.field.value.hasAssets } }

  /// The record with every asset in it replaced.
  func mappingAssets(_ replace: (String, Asset) -> Asset) -> Record {
    var record = self
    for element in fields where element.field.value.hasAssets {
      record.fields[element.key]?.value = element.field.value.mappingAssets {
        replace(element.key, $0)
      }
    }
    return record
  }
}
