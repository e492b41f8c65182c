import CloudProtocol
import Foundation
import Records
import WebServices

/// Uploads and downloads assets at the URLs that the server names.
extension WebServicesTransport {
  func upload(
    _ asset: UploadAsset, _ call: CloudCall, since epoch: Int
  ) async throws(CloudError) -> CloudReply {
    let notation = session.notation(call)
    let announcement = JSON.members([
      "tokens": .array([
        .members([
          "recordType": .string(asset.recordType), "fieldName": .string(asset.key),
        ])
      ])
    ])
    let answer = try await session.send(
      .assetsUpload, of: call.database, announcement, call, since: epoch)
    guard let target = answer["tokens"]?.array?.first, let url = target["url"]?.string else {
      throw CloudError(.internalError, "the server did not name a URL for the upload")
    }
    let receipt = try await session.load(url, uploading: asset.content.bytes())
    let body = try session.content(of: receipt, notation)
    guard let file = body["singleFile"] else {
      throw CloudError(.internalError, "the server did not answer an upload with a receipt")
    }
    return .assetUploaded(try notation.uploadedAsset(file))
  }

  func download(
    _ asset: DownloadAsset, _ call: CloudCall, since epoch: Int
  ) async throws(CloudError) -> CloudReply {
    let notation = session.notation(call)
    let lookup = FetchRecords(ids: [asset.record], fields: .keys([asset.key]))
    guard let clientRequest = ClientRequest(.fetchRecords(lookup), notation) else {
      throw .misplaced
    }
    let answer = try await session.send(
      clientRequest.endpoint, of: clientRequest.database, clientRequest.body, call, since: epoch)
    guard let item = answer["records"]?.array?.first else { throw .misplaced }
    if let error = try notation.error(item) { throw error }
    let value = item["fields"]?[asset.key]?["value"]
    let files = value?.array ?? value.map { [$0] } ?? []
    guard let location = files.first(where: { $0["fileChecksum"]?.string == asset.checksum }),
      let url = location["downloadURL"]?.string
    else {
      throw CloudError(
        .assetNotAvailable,
        "the field '\(asset.key)' of the record does not hold this file now; fetch it again")
    }
    // Apple's service has a placeholder in its URLs for a file name.
    let file = try await session.load(url.replacing("${f}", with: "file"))
    guard file.status == 200 else {
      _ = try session.content(of: file, notation)
      throw CloudError(.assetNotAvailable, "a file can't be downloaded; fetch its record again")
    }
    return .assetContent(AssetContent(file.body))
  }
}
