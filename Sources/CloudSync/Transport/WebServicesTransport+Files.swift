import CloudProtocol
import Foundation
import Records
import WebServices

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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
    let (bytes, response) = try await session.load(url, bringing: upload.content)
    let body = try session.answer(Data(bytes), response, notation)
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
    guard let errand = Errand(.fetchRecords(lookup), notation) else { throw .misplaced }
    let answer = try await session.send(errand.endpoint, of: errand.database, errand.body, call)
    guard let item = answer["records"]?.array?.first else { throw .misplaced }
    if let error = try notation.error(item) { throw error }
    let value = item["fields"]?[download.key]?["value"]
    let files = value?.array ?? value.map { [$0] } ?? []
    guard let file = files.first(where: { $0["fileChecksum"]?.string == download.checksum }),
      let url = file["downloadURL"]?.string
    else {
      throw CloudError(
        .assetNotAvailable,
        "the field '\(download.key)' of the record does not hold this file now; fetch it again")
    }
    // Apple's service leaves a place in its URLs for a file's name.
    let (bytes, response) = try await session.load(url.replacing("${f}", with: "file"))
    guard response.statusCode == 200 else {
      _ = try session.answer(Data(bytes), response, notation)
      throw CloudError(.assetNotAvailable, "a file can't be had; fetch its record again")
    }
    return .assetContent(bytes)
  }
}
