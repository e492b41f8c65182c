import CloudProtocol
import Foundation
import Records
import Synchronization

extension AssetTransport {
  /// The download of one file.
  private struct Download: Hashable, Sendable {
    var record: RecordID
    var key: String
    var checksum: String
    var size: Int
  }

  /// The results of the downloads for a reply.
  private struct Files: Sendable {
    var locations: [Download: URL] = [:]
    var failures: [RecordID: CloudError] = [:]

    /// Whether the reply had no files, as most replies.
    var isEmpty: Bool { locations.isEmpty && failures.isEmpty }

    /// The record with the locations of its files; failed downloads have none.
    func located(_ record: Record) -> Record {
      record.mappingAssets { key, asset in
        var asset = asset
        asset.location =
          locations[
            Download(
              record: record.id, key: key, checksum: asset.checksum, size: asset.size)]?
          .absoluteString
        return asset
      }
    }

    func located<ID>(_ results: [ItemResult<ID, Record>]) -> [ItemResult<ID, Record>] {
      results.map { result in
        guard let record = result.value else { return result }
        if let failure = failures[record.id] { return ItemResult(id: result.id, .failure(failure)) }
        return ItemResult(id: result.id, .success(located(record)))
      }
    }
  }

  /// Downloads the files of the records in a reply.
  ///
  /// A file that the server does not have fails its record, if the reply has results for single
  /// records; in a page of changes the asset has no location. Any other failure, such as a full
  /// disk of the device, fails the request, so that the page is fetched again.
  func withFiles(_ reply: CloudReply, of call: CloudCall) async throws(CloudError) -> CloudReply {
    switch reply {
    case .records(let results):
      return .records(try await fetch(results.compactMap(\.value), call).located(results))
    case .zoneChanges(var page):
      let files = try await fetch(page.modified, call)
      if !files.isEmpty { page.modified = page.modified.map(files.located) }
      return .zoneChanges(page)
    case .queried(var page):
      let files = try await fetch(page.records, call)
      if !files.isEmpty { page.records = page.records.map(files.located) }
      page.failures = files.failures
      return .queried(page)
    case .sharesAccepted(let results):
      return .sharesAccepted(try await fetch(results.compactMap(\.value), call).located(results))
    case .sharesResolved, .currentUser, .databaseChanges, .zones, .zonesModified,
      .recordsModified, .subscriptions, .subscriptionsModified, .usersFound, .assetUploaded,
      .assetContent:
      return reply
    }
  }

  /// Adds the locations of their files to saved records, and downloads the files of the server's
  /// records in conflicts.
  ///
  /// The server has carried out the request, so a download that fails does not fail it: the assets
  /// of those records have no location then.
  func withFiles(
    _ results: [ItemResult<RecordID, Record>], _ call: CloudCall
  ) async -> [ItemResult<RecordID, Record>] {
    guard results.indices.contains(where: { results[$0].outcome.hasFiles }) else { return results }
    let conflicts = results.compactMap { $0.error?.serverRecord }.filter(\.hasAssets)
    let files = conflicts.isEmpty ? Files() : (try? await fetch(conflicts, call)) ?? Files()
    return results.map { result in
      switch result.outcome {
      case .success(let record) where record.hasAssets:
        let known = record.mappingAssets { _, asset in
          var asset = asset
          asset.location = staging.file(of: asset)?.absoluteString
          return asset
        }
        return ItemResult(id: result.id, .success(known))
      case .failure(var error):
        error.serverRecord = error.serverRecord.map(files.located)
        return ItemResult(id: result.id, .failure(error))
      case .success: return result
      }
    }
  }

  private func fetch(_ records: [Record], _ call: CloudCall) async throws(CloudError) -> Files {
    var downloads: [Download] = []
    var known: Set<Download> = []
    for record in records where record.hasAssets {
      for element in record.fields {
        for asset in element.field.value.assets {
          let download = Download(
            record: record.id, key: element.key, checksum: asset.checksum, size: asset.size)
          if known.insert(download).inserted { downloads.append(download) }
        }
      }
    }
    guard !downloads.isEmpty else { return Files() }
    let files = Mutex(Files())
    do throws(CloudError) {
      try await forEach(downloads) { download in
        do throws(CloudError) {
          let location = try await self.download(download, call)
          files.withLock { $0.locations[download] = location }
          return nil
        } catch {
          guard error.code == .assetNotAvailable || error.code == .unknownItem else { return error }
          files.withLock { $0.failures[download.record] = error }
          return nil
        }
      }
    } catch {
      // The next attempt fetches all of them again.
      staging.remove(files.withLock { Array($0.locations.values) })
      throw error
    }
    return files.withLock { $0 }
  }

  private func download(_ download: Download, _ call: CloudCall) async throws(CloudError) -> URL {
    var call = call
    call.requestID += "/file"
    call.request = .downloadAsset(
      DownloadAsset(record: download.record, key: download.key, checksum: download.checksum))
    guard case .assetContent(let content) = try await transport.send(call) else {
      throw CloudError(.internalError, "the server did not answer a download with content")
    }
    guard content.count == download.size else {
      throw CloudError(.internalError, "a downloaded file does not match its record")
    }
    return try staging.stage(
      content, of: Asset(checksum: download.checksum, size: download.size))
  }
}

extension ItemResult<RecordID, Record>.Outcome {
  /// Whether the record of either side has files.
  fileprivate var hasFiles: Bool {
    switch self {
    case .success(let record): record.hasAssets
    case .failure(let error): error.serverRecord?.hasAssets ?? false
    }
  }
}
