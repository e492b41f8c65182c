import CloudProtocol
import Foundation
import LoopbackServer
import Records
import WebServices

/// Uploads and downloads of files. Rules: WS-83 to WS-86.
extension ServiceRoutes {
  /// The lifetime of an upload URL in seconds.
  private static let uploadSeconds: Double = 15 * 60

  /// The owner of the signed paths issued for a request; the account of an anonymous reader is
  /// empty.
  func owner(_ context: ServiceContext) -> SignedPath.Owner {
    SignedPath.Owner(
      account: context.bearer?.account ?? "", device: context.deviceName,
      container: context.path.container, environment: context.path.environment,
      database: context.path.database)
  }

  /// The download URL of the file in a field.
  func downloadURL(_ context: ServiceContext, _ id: RecordID, _ key: String, _ asset: Asset)
    -> String?
  {
    guard !key.isEmpty else { return nil }
    return baseURL
      + SignedPath.download(owner(context), id, key: key, checksum: asset.checksum).path(
        tokens.signer)
  }

  /// The upload URLs of the requested files.
  func uploadURLs(_ body: JSON, _ context: ServiceContext) throws(CloudError) -> JSON {
    guard context.bearer != nil else {
      throw CloudError(.notAuthenticated, "no account is signed in")
    }
    let asked = try body.list("tokens")
    try checkCount(asked.count, "upload URLs", context)
    let until = Timestamp(
      secondsSinceReferenceDate: tokens.clock().secondsSinceReferenceDate
        + ServiceRoutes.uploadSeconds)
    var answers: [JSON] = []
    for (index, value) in asked.enumerated() {
      let (key, recordType) = (try value.text("fieldName"), try value.text("recordType"))
      for (name, what) in [(key, "a field"), (recordType, "a record type")] {
        // The upload checks the rest. A longer name would make a URL that is not valid.
        guard (1...ServiceRoutes.nameBytes).contains(name.utf8.count) else {
          throw .malformed("the name of \(what) needs 1 to \(ServiceRoutes.nameBytes) bytes")
        }
      }
      let signedPath = SignedPath.upload(
        owner(context), recordType: recordType, key: key,
        requestID: context.partID("/upload/\(index)"), until: until)
      answers.append(
        .members([
          "recordName": .string(try value.optionalText("recordName") ?? UUID().uuidString),
          "fieldName": .string(key), "url": .string(baseURL + signedPath.path(tokens.signer)),
        ]))
    }
    return .members(["tokens": .array(answers)])
  }

  /// References files of existing records for use in other records.
  func rereference(_ body: JSON, _ context: ServiceContext) async throws(CloudError) -> JSON {
    let zone = try context.notation.zone(in: body)
    var assets: [JSON] = []
    let asked = try body.list("assets")
    try checkCount(asked.count, "files", context)
    for (index, value) in asked.enumerated() {
      let id = try context.notation.recordID(value, in: zone)
      let key = try value.text("fieldName")
      assets.append(try await rereference(id, key, context, index))
    }
    return .members(["assets": .array(assets)])
  }

  private func rereference(
    _ id: RecordID, _ key: String, _ context: ServiceContext, _ index: Int
  ) async throws(CloudError) -> JSON {
    let lookup = FetchRecords(ids: [id], fields: .keys([key]))
    guard
      case .records(let results) = try await context.device.send(
        context.call(.fetchRecords(lookup))),
      let result = results.first
    else { throw CloudError(.internalError, "the reply does not match the request") }
    if let error = result.error { throw error }
    guard let record = result.value, let asset = record.fields[key]?.value.assets.first else {
      throw CloudError(.unknownItem, "the field '\(key)' of the record contains no file")
    }
    let download = DownloadAsset(record: id, key: key, checksum: asset.checksum)
    guard
      case .assetContent(let content) = try await context.device.send(
        context.call(.downloadAsset(download)))
    else { throw CloudError(.assetNotAvailable, "the file does not exist") }
    var body = HTTPBody(usesFile: true)
    let copy: AssetContent
    do {
      try content.forEachPart { try body.append($0) }
      copy = try body.content()
    } catch {
      throw error as? CloudError ?? CloudError(.serviceUnavailable, "\(error)", retryAfter: 30)
    }
    let upload = UploadAsset(recordType: record.type, key: key, content: copy)
    guard
      case .assetUploaded(let kept) = try await context.device.send(
        context.call(.uploadAsset(upload), "/rereference/\(index)"),
        choseRequestID: context.choseRequestID, encode: { _ in Bool?.none }
      ).reply
    else { throw CloudError(.internalError, "the reply does not match the request") }
    return context.notation.json(kept)
  }

  /// The response to an expired upload URL; `nil` while it is valid.
  func refusal(of signedPath: SignedPath, _ head: HTTPRequestHead) -> HTTPResponse? {
    guard case .upload(let owner, _, _, _, let until) = signedPath, tokens.clock() > until else {
      return nil
    }
    return failure(
      CloudError(.serverRejectedRequest, "the upload URL has expired; request a new one"),
      notation(of: owner, head))
  }

  /// The JSON notation of the response to a request with a signed path.
  private func notation(of owner: SignedPath.Owner, _ head: HTTPRequestHead) -> Notation {
    Notation(
      container: owner.container, database: owner.database,
      isExact: head.value(EnvelopeHeader.exact) != nil)
  }

  /// Answers a request with a signed path.
  func answer(_ signedPath: SignedPath, _ request: HTTPRequest) async -> HTTPResponse? {
    switch signedPath {
    case .courier(let owner):
      return await courier.answer(
        owner, server, isExact: request.head.value(EnvelopeHeader.exact) != nil)
    case .upload(let owner, let recordType, let key, let requestID, _):
      let notation = notation(of: owner, request.head)
      let upload = UploadAsset(
        recordType: recordType, key: key, content: request.file ?? AssetContent(request.body))
      do throws(CloudError) {
        let call = owner.call(.uploadAsset(upload), id: requestID)
        guard case .assetUploaded(let asset) = try await device(owner).send(call) else {
          throw CloudError(.internalError, "the reply does not match the request")
        }
        return .json(200, .members(["singleFile": uploaded(asset, notation)]))
      } catch { return failure(error, notation) }
    case .download(let owner, let id, let key, let checksum):
      let download = DownloadAsset(record: id, key: key, checksum: checksum)
      do throws(CloudError) {
        let call = owner.call(.downloadAsset(download), id: UUID().uuidString)
        guard case .assetContent(let content) = try await device(owner).send(call) else {
          throw CloudError(.assetNotAvailable, "the file does not exist")
        }
        return try .file(content, checksum: checksum, to: request.head)
      } catch {
        let notation = notation(of: owner, request.head)
        // In a download, other clients than this package's are told that there is no such file.
        let isMissing = error.code == .assetNotAvailable && !notation.isExact
        return failure(isMissing ? CloudError(.unknownItem, error.message) : error, notation)
      }
    }
  }

  private func device(_ owner: SignedPath.Owner) -> LoopbackDevice {
    server.remoteDevice(
      owner.device, account: owner.account.isEmpty ? nil : owner.account)
  }

  /// The response to an upload.
  ///
  /// Two members exist only because clients of Apple's service send them back.
  private func uploaded(_ asset: Asset, _ notation: Notation) -> JSON {
    var members = notation.json(asset).members ?? JSON.Members()
    members.add("referenceChecksum", .string(asset.checksum))
    members.add(
      "wrappingKey", .string(Notation.base64(Array(asset.checksum.utf8.prefix(16)))))
    return .object(members)
  }
}

extension HTTPResponse {
  /// The content of a file, or the requested range of it.
  ///
  /// A file's checksum is its entity tag: the content behind a URL never changes.
  fileprivate static func file(
    _ content: AssetContent, checksum: String, to head: HTTPRequestHead
  ) throws(CloudError) -> HTTPResponse {
    let tag = "\"\(checksum)\""
    var response = HTTPResponse(
      200,
      fields: [
        .init(name: "etag", value: tag), .init(name: "accept-ranges", value: "bytes"),
        .init(name: "cache-control", value: "private, no-cache"),
      ])
    switch HTTPSelection(head, count: content.count, tag: tag) {
    case .whole: response.file = content
    case .part(let range):
      response.status = 206
      response.file = try content.part(range)
      let bytes = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
      response.fields.append(.init(name: "content-range", value: bytes))
    case .unsatisfiable:
      response = HTTPResponse(HTTPRefusal(416, "the range is outside of the file"))
      response.fields.append(.init(name: "content-range", value: "bytes */\(content.count)"))
      return response
    case .notModified:
      response.status = 304
      return response
    case .preconditionFailed:
      return HTTPResponse(HTTPRefusal(412, "the precondition names another version of the file"))
    }
    response.fields += [
      .init(name: "content-type", value: "application/octet-stream"),
      .init(name: "x-content-type-options", value: "nosniff"),
      .init(name: "content-disposition", value: "attachment"),
    ]
    return response
  }
}
