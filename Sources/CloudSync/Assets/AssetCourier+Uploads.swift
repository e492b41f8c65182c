import CloudProtocol
import Foundation
import Records
import Synchronization

extension AssetCourier {
  /// One file on its way to the server.
  private struct Upload: Sendable {
    var save: Int
    var key: String
    var type: String
    var file: URL
  }

  /// Where a file goes: one file may go into several fields, each upload is for one.
  private struct Place: Hashable, Sendable {
    var key: String
    var file: URL
  }

  /// Saves records after the files in them were uploaded.
  ///
  /// A record whose file can't be had, or that holds what no server can store, fails by itself; in
  /// an atomic request the others of its zone fail with it, and nothing of that zone is sent.
  func save(_ request: ModifyRecords, _ call: CloudCall) async throws(CloudError) -> CloudReply {
    let faults = AssetCourier.faults(of: request)
    let uploads = AssetCourier.uploads(of: request).filter { faults[$0.save] == nil }
    guard !uploads.isEmpty || !faults.isEmpty else {
      let reply = try await transport.send(call)
      guard case .recordsModified(let saved, let deleted) = reply else { return reply }
      return .recordsModified(saved: try await located(saved, call), deleted: deleted)
    }
    let uploaded = Mutex<[Int: [Place: Asset]]>([:])
    let failures = Mutex<[Int: CloudError]>(faults)
    try await forEach(Array(uploads.enumerated())) { number, upload in
      do throws(CloudError) {
        let asset = try await self.carry(upload, number, call)
        let place = Place(key: upload.key, file: upload.file)
        uploaded.withLock { $0[upload.save, default: [:]][place] = asset }
        return nil
      } catch {
        guard error.code.isOfFile else { return error }
        failures.withLock { $0[upload.save] = $0[upload.save] ?? error }
        return nil
      }
    }
    let failed = failures.withLock { $0 }
    var (outgoing, places) = AssetCourier.withReceipts(request, uploaded.withLock { $0 })
    let refused = AssetCourier.refused(request, failed)
    outgoing.save = zip(outgoing.save, refused.saves).filter { $1 == nil }.map(\.0)
    outgoing.delete = zip(outgoing.delete, refused.deletes).filter { $1 == nil }.map(\.0)
    let reply: CloudReply
    if outgoing.save.isEmpty && outgoing.delete.isEmpty && !failed.isEmpty {
      reply = .recordsModified(saved: [], deleted: [])
    } else {
      var call = call
      call.request = .modifyRecords(outgoing)
      reply = try await transport.send(call)
    }
    guard case .recordsModified(let saved, let deleted) = reply else { return reply }
    for place in places { staging.remember(place.value, as: place.key) }
    places = [:]
    return .recordsModified(
      saved: try await located(
        AssetCourier.woven(saved, request.save.map(\.id), refused.saves), call),
      deleted: AssetCourier.woven(deleted, request.delete, refused.deletes))
  }

  /// The saves that the device can't send, and why.
  private static func faults(of request: ModifyRecords) -> [Int: CloudError] {
    var faults: [Int: CloudError] = [:]
    for index in request.save.indices { faults[index] = request.save[index].deviceFault }
    return faults
  }

  /// The files of the request that lie on this device.
  private static func uploads(of request: ModifyRecords) -> [Upload] {
    var uploads: [Upload] = []
    // By number: a save taken out of the array would be copied with all its fields.
    for index in request.save.indices {
      for change in request.save[index].changes {
        for asset in change.field?.value.assets ?? [] {
          guard let file = asset.localFile else { continue }
          uploads.append(
            Upload(save: index, key: change.key, type: request.save[index].type, file: file))
        }
      }
    }
    return uploads
  }

  private func carry(
    _ upload: Upload, _ number: Int, _ call: CloudCall
  ) async throws(CloudError) -> Asset {
    let content = try AssetCourier.read(upload.file)
    var call = call
    // The same when the save is repeated under its own request ID.
    call.requestID += "/file/\(number)"
    call.request = .uploadAsset(
      UploadAsset(recordType: upload.type, key: upload.key, content: content))
    guard case .assetUploaded(let asset) = try await transport.send(call) else {
      throw CloudError(.internalError, "the server did not answer an upload with a receipt")
    }
    return asset
  }

  /// What a file holds, read as one version of it.
  private static func read(_ file: URL) throws(CloudError) -> [UInt8] {
    func version() -> [FileAttributeKey: Any]? {
      try? FileManager.default.attributesOfItem(atPath: file.path)
    }
    guard let before = version() else {
      throw CloudError(
        .assetFileNotFound, "the file of an asset is not there; save it before the record")
    }
    let content: Data
    do { content = try Data(contentsOf: file) } catch {
      throw CloudError(
        .assetNotAvailable, "the file of an asset can't be read: \(error.localizedDescription)")
    }
    guard let after = version(), before[.size] as? Int == content.count,
      after[.size] as? Int == content.count,
      before[.modificationDate] as? Date == after[.modificationDate] as? Date
    else {
      throw CloudError(.assetFileModified, "the file of an asset changed while it was uploaded")
    }
    return [UInt8](content)
  }

  /// The request with receipts in place of files, and where the content lies.
  private static func withReceipts(
    _ request: ModifyRecords, _ uploaded: [Int: [Place: Asset]]
  ) -> (ModifyRecords, [String: URL]) {
    var request = request
    var places: [String: URL] = [:]
    for (save, assets) in uploaded {
      for index in request.save[save].changes.indices {
        let key = request.save[save].changes[index].key
        guard let value = request.save[save].changes[index].field?.value else { continue }
        request.save[save].changes[index].field?.value = value.mappingAssets { asset in
          guard let file = asset.localFile, let kept = assets[Place(key: key, file: file)] else {
            return asset
          }
          places[kept.checksum] = file
          return kept
        }
      }
    }
    return (request, places)
  }

  /// Which changes can't be sent, and why.
  private static func refused(
    _ request: ModifyRecords, _ failed: [Int: CloudError]
  ) -> (saves: [CloudError?], deletes: [CloudError?]) {
    let zones = request.isAtomic ? Set(failed.keys.map { request.save[$0].id.zone }) : []
    let sibling = CloudError(
      .batchRequestFailed, "not sent, because another record of this zone can't be sent")
    return (
      request.save.enumerated().map { index, save in
        failed[index] ?? (zones.contains(save.id.zone) ? sibling : nil)
      },
      request.delete.map { zones.contains($0.zone) ? sibling : nil }
    )
  }

  /// The server's results with those of what was not sent, in the order asked.
  private static func woven<Value>(
    _ results: [ItemResult<RecordID, Value>], _ ids: [RecordID], _ refused: [CloudError?]
  ) -> [ItemResult<RecordID, Value>] {
    var rest = results[...]
    return zip(ids, refused).compactMap { id, error in
      if let error { return ItemResult(id: id, .failure(error)) }
      return rest.popFirst()
    }
  }
}

extension Asset {
  /// The file on this device that holds the content, if there is one.
  var localFile: URL? {
    guard let location, let url = URL(string: location), url.isFileURL else { return nil }
    // What came from the server and whose file is gone may still be in the record there.
    if !checksum.isEmpty, !FileManager.default.fileExists(atPath: url.path) { return nil }
    return url
  }
}

extension CloudError.Code {
  /// Whether a single file is to blame, not the whole request.
  fileprivate var isOfFile: Bool {
    switch self {
    case .assetFileNotFound, .assetFileModified, .assetNotAvailable, .limitExceeded,
      .invalidArguments, .quotaExceeded:
      true
    default: false
    }
  }
}
