import CloudProtocol
import Foundation
import Records
import SyncMachine
import Synchronization
import WebServices

extension AssetTransport {
  /// The upload of one file.
  private struct Upload: Sendable {
    var save: Int
    var key: String
    var type: String
    var file: URL
  }

  /// The field and file of an upload.
  ///
  /// A file may belong to several fields; each has its own upload.
  private struct UploadTarget: Hashable, Sendable {
    var key: String
    var file: URL
  }

  /// An uploaded file, with its receipt.
  private struct Uploaded: Sendable {
    var asset: Asset
    var url: URL
    var version: FileVersion
  }

  /// Uploads the files of records and then saves the records.
  ///
  /// A record whose file can't be read, or that holds a value no server can store, fails on its
  /// own; in an atomic request the other records of its zone fail with it, and none of them is
  /// sent.
  func save(_ request: ModifyRecords, _ call: CloudCall) async throws(CloudError) -> CloudReply {
    let faults = AssetTransport.faults(of: request)
    let uploads = AssetTransport.uploads(of: request).filter { faults[$0.save] == nil }
    guard !uploads.isEmpty || !faults.isEmpty else {
      let reply = try await transport.send(call)
      guard case .recordsModified(let saved, let deleted) = reply else { return reply }
      return .recordsModified(saved: await withFiles(saved, call), deleted: deleted)
    }
    let uploaded = Mutex<[Int: [UploadTarget: Uploaded]]>([:])
    let failures = Mutex<[Int: CloudError]>(faults)
    try await forEach(Array(uploads.enumerated())) { number, upload in
      do throws(CloudError) {
        let file = try await self.upload(upload, number, call)
        let target = UploadTarget(key: upload.key, file: upload.file)
        uploaded.withLock { $0[upload.save, default: [:]][target] = file }
        return nil
      } catch {
        // An error after which the same request can succeed is one of the whole request.
        guard error.code.disposition == .surface else { return error }
        failures.withLock { $0[upload.save] = $0[upload.save] ?? error }
        return nil
      }
    }
    let failed = failures.withLock { $0 }
    let (completed, files) = AssetTransport.withReceipts(request, uploaded.withLock { $0 })
    let refused = RefusedChanges(request, failed)
    let outgoing = refused.rest(of: completed)
    let reply: CloudReply
    if outgoing.save.isEmpty && outgoing.delete.isEmpty && !failed.isEmpty {
      reply = .recordsModified(saved: [], deleted: [])
    } else {
      var call = call
      // The files may have changed since the first attempt; then this is a different request.
      call.requestID += "/saved/" + AssetTransport.digest(of: outgoing)
      call.request = .modifyRecords(outgoing)
      reply = try await transport.send(call)
    }
    guard case .recordsModified(let saved, let deleted) = reply else { return reply }
    for (checksum, file) in files { staging.remember(file.url, file.version, as: checksum) }
    return .recordsModified(
      saved: await withFiles(refused.completing(saved: saved), call),
      deleted: refused.completing(deleted: deleted))
  }

  /// The errors of the saves that can't be sent, by index.
  private static func faults(of request: ModifyRecords) -> [Int: CloudError] {
    var faults: [Int: CloudError] = [:]
    for index in request.save.indices { faults[index] = request.save[index].deviceFault }
    return faults
  }

  /// The uploads for the files on this device that the request names.
  private static func uploads(of request: ModifyRecords) -> [Upload] {
    var uploads: [Upload] = []
    // By index: taking a save out of the array would copy all its fields.
    for index in request.save.indices {
      // The server can't have the files of a record that it must not know yet.
      let isNew =
        request.save[index].changeTag == nil && request.policy == .ifServerRecordUnchanged
      for change in request.save[index].changes {
        for asset in change.field?.value.assets ?? [] {
          guard let file = isNew ? asset.fileURL : asset.localFile else { continue }
          uploads.append(
            Upload(save: index, key: change.key, type: request.save[index].type, file: file))
        }
      }
    }
    return uploads
  }

  private func upload(
    _ upload: Upload, _ number: Int, _ call: CloudCall
  ) async throws(CloudError) -> Uploaded {
    let (content, version) = try AssetTransport.read(upload.file)
    var call = call
    // Unchanged when the save is repeated with its request ID and the file is the same.
    call.requestID += "/file/\(number)/\(content.count)-\(Checksum.of(content))"
    call.request = .uploadAsset(
      UploadAsset(recordType: upload.type, key: upload.key, content: content))
    guard case .assetUploaded(let asset) = try await transport.send(call) else {
      throw CloudError(.internalError, "the server did not answer an upload with a receipt")
    }
    return Uploaded(asset: asset, url: upload.file, version: version)
  }

  /// The content of a file, which must not change while it is read.
  private static func read(_ file: URL) throws(CloudError) -> ([UInt8], FileVersion) {
    guard let before = FileVersion(of: file) else {
      throw CloudError(
        .assetFileNotFound, "the file of an asset does not exist; write it before saving the record"
      )
    }
    guard before.size <= largestFile else {
      throw CloudError(
        .limitExceeded,
        "the file of an asset holds \(before.size) bytes; no file of more than \(largestFile) "
          + "bytes can be uploaded")
    }
    var content: [UInt8] = []
    content.reserveCapacity(before.size)
    do {
      let handle = try FileHandle(forReadingFrom: file)
      // A file that grows meanwhile is not read to its end.
      while content.count <= before.size, let part = try handle.read(upToCount: 1 << 20),
        !part.isEmpty
      {
        content += part
      }
    } catch {
      throw CloudError(
        .assetNotAvailable, "the file of an asset can't be read: \(error.localizedDescription)")
    }
    guard before.size == content.count, FileVersion(of: file) == before else {
      throw CloudError(.assetFileModified, "the file of an asset changed while it was uploaded")
    }
    return (content, before)
  }

  /// The request with receipts in place of files, and the files by checksum.
  private static func withReceipts(
    _ request: ModifyRecords, _ uploaded: [Int: [UploadTarget: Uploaded]]
  ) -> (ModifyRecords, [String: Uploaded]) {
    var request = request
    var files: [String: Uploaded] = [:]
    for (save, assets) in uploaded {
      for index in request.save[save].changes.indices {
        let key = request.save[save].changes[index].key
        guard let value = request.save[save].changes[index].field?.value else { continue }
        request.save[save].changes[index].field?.value = value.mappingAssets { asset in
          guard let file = asset.localFile,
            let uploaded = assets[UploadTarget(key: key, file: file)]
          else { return asset }
          files[uploaded.asset.checksum] = uploaded
          return uploaded.asset
        }
      }
    }
    return (request, files)
  }

  /// A digest of the records and files that a request saves.
  private static func digest(of request: ModifyRecords) -> String {
    var writer = ByteWriter(capacity: 256)
    for save in request.save {
      writer.write(save.id)
      for change in save.changes {
        for asset in change.field?.value.assets ?? [] { writer.write(asset.checksum) }
      }
    }
    return String(SHA256.hexadecimal(of: writer.bytes).prefix(16))
  }
}

extension Asset {
  /// The file on this device that holds the content, if there is one.
  var localFile: URL? {
    guard let url = fileURL else { return nil }
    // An asset from the server whose file was removed may still be stored in the record there.
    if !checksum.isEmpty, !FileManager.default.fileExists(atPath: url.path) { return nil }
    return url
  }

  /// The file that it names, which may not exist any more.
  fileprivate var fileURL: URL? {
    guard let location, let url = URL(string: location), url.isFileURL else { return nil }
    return url
  }
}
