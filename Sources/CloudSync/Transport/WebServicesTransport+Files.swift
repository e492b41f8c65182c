import CloudProtocol
import Foundation
import Records
import WebServices

/// Files go to, and come from, places that the server names. Source: web-services 1.10.
extension WebServicesTransport {
  func bring(
    _ upload: UploadAsset, _ call: CloudCall
  ) async throws(CloudError) -> CloudReply {
    let notation = session.notation(call)
    let announcement = JSON.members([
      "tokens": .array([
        .members([
          "recordType": .string(upload.recordType), "fieldName": .string(upload.key),
        ])
      ])
    ])
    let answer = try await session.send(.assetsUpload, of: call.database, announcement, call)
    guard let place = answer["tokens"]?.array?.first, let url = place["url"]?.string else {
      throw CloudError(.internalError, "the server did not say where to bring a file")
    }
    let receipt = try await session.load(url, bringing: upload.content)
    let body = try session.content(of: receipt, notation)
    guard let file = body["singleFile"] else {
      throw CloudError(.internalError, "the server did not answer an upload with a receipt")
    }
    return .assetUploaded(try notation.uploadedAsset(file))
  }

  func fetch(
    _ download: DownloadAsset, _ call: CloudCall
  ) async throws(CloudError) -> CloudReply {
    let notation = session.notation(call)
    let lookup = FetchRecords(ids: [download.record], fields: .keys([download.key]))
    guard let errand = ClientRequest(.fetchRecords(lookup), notation) else { throw .misplaced }
    let answer = try await session.send(errand.endpoint, of: errand.database, errand.body, call)
    guard let item = answer["records"]?.array?.first else { throw .misplaced }
    if let error = try notation.error(item) { throw error }
    let value = item["fields"]?[download.key]?["value"]
    let files = value?.array ?? value.map { [$0] } ?? []
    guard let place = files.first(where: { $0["fileChecksum"]?.string == download.checksum }),
      let url = place["downloadURL"]?.string
    else {
      throw CloudError(
        .assetNotAvailable,
        "the field '\(download.key)' of the record does not hold this file now; fetch it again")
    }
    // Apple's service leaves a place in its URLs for a file's name.
    let file = try await session.load(url.replacing("${f}", with: "file"))
    guard file.status == 200 else {
      _ = try session.content(of: file, notation)
      throw CloudError(.assetNotAvailable, "a file can't be had; fetch its record again")
    }
    return .assetContent(file.body)
  }
}
