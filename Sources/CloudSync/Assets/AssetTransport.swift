import CloudProtocol
import Records
import Synchronization

/// A transport that transfers the files of assets along with their records.
///
/// Before records are saved, the files of their assets are uploaded; after records are fetched,
/// their assets are downloaded into new files on this device. Requests without assets are passed on
/// unchanged. All requests of a container, its databases, operations and engines, use this
/// transport. See CS-36 to CS-43 in Docs/Evidence/Surface.md.
final class AssetTransport: CloudTransport {
  /// The number of concurrent transfers; each holds its whole file in memory.
  static let filesAtOnce = 4
  /// The most bytes of a file that is uploaded, whatever the server's limit: a file is held in
  /// memory.
  static let largestFile = 1 << 30

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
    case .fetchRecords, .fetchZoneChanges, .queryRecords, .acceptShares:
      try await withFiles(try await transport.send(call), of: call)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZones, .modifyZones,
      .fetchSubscriptions, .modifySubscriptions, .findUsers, .resolveShares, .uploadAsset,
      .downloadAsset:
      try await transport.send(call)
    }
  }

  /// Runs `work` on each of `items`, with limited concurrency; the first error stops it.
  func forEach<Item: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) async -> CloudError?
  ) async throws(CloudError) {
    let failure = await withTaskGroup(of: CloudError?.self) { group in
      var failure: CloudError?
      var rest = items[...]
      for item in rest.prefix(AssetTransport.filesAtOnce) { group.addTask { await work(item) } }
      rest = rest.dropFirst(AssetTransport.filesAtOnce)
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
  /// Whether the value contains an asset.
  var hasAssets: Bool { !assets.isEmpty }

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
