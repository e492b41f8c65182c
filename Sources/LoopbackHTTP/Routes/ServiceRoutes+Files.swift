import CloudProtocol
import Foundation
import LoopbackServer
import Records
import WebServices

/// Files on their way in and out. Source: web-services 1.10.
extension ServiceRoutes {
  /// For how many seconds a file can be brought.
  private static let uploadSeconds: Double = 15 * 60

  /// The account that a visit belongs to; a public reader's is empty.
  func holder(_ visit: Visit) -> Ticket.Holder {
    Ticket.Holder(
      account: visit.bearer?.account ?? "", device: visit.deviceName,
      container: visit.path.container, environment: visit.path.environment,
      database: visit.path.database)
  }

  /// Where the file in a field can be had.
  func downloadURL(_ visit: Visit, _ id: RecordID, _ key: String, _ asset: Asset) -> String? {
    guard !key.isEmpty else { return nil }
    return baseURL
      + Ticket.download(holder(visit), id, key: key, checksum: asset.checksum).path(tokens.seal)
  }

  /// Where to bring each of the files announced.
  func uploadTickets(_ body: JSON, _ visit: Visit) throws(CloudError) -> JSON {
    guard visit.bearer != nil else {
      throw CloudError(.notAuthenticated, "no account is signed in")
    }
    let asked = try body.list("tokens")
    try checkCount(asked.count, "places for files", visit)
    let until = Timestamp(
      secondsSinceReferenceDate: tokens.clock().secondsSinceReferenceDate
        + ServiceRoutes.uploadSeconds)
    var answers: [JSON] = []
    for (index, value) in asked.enumerated() {
      let key = try value.text("fieldName")
      let ticket = Ticket.upload(
        holder(visit), recordType: try value.text("recordType"), key: key,
        requestID: "\(visit.requestID)/upload/\(index)", until: until)
      answers.append(
        .members([
          "recordName": .string(try value.optionalText("recordName") ?? UUID().uuidString),
          "fieldName": .string(key), "url": .string(baseURL + ticket.path(tokens.seal)),
        ]))
    }
    return .members(["tokens": .array(answers)])
  }

  /// Files that a record holds, to be put into other records.
  func rereference(_ body: JSON, _ visit: Visit) async throws(CloudError) -> JSON {
    let zone = try visit.notation.zone(in: body)
    var assets: [JSON] = []
    let asked = try body.list("assets")
    try checkCount(asked.count, "files", visit)
    for (index, value) in asked.enumerated() {
      let id = try visit.notation.recordID(value, in: zone)
      let key = try value.text("fieldName")
      assets.append(try await rereference(id, key, visit, index))
    }
    return .members(["assets": .array(assets)])
  }

  private func rereference(
    _ id: RecordID, _ key: String, _ visit: Visit, _ index: Int
  ) async throws(CloudError) -> JSON {
    let lookup = FetchRecords(ids: [id], fields: .keys([key]))
    guard
      case .records(let results) = try await visit.device.send(visit.call(.fetchRecords(lookup))),
      let result = results.first
    else { throw CloudError(.internalError, "a record was asked for and something else came") }
    if let error = result.error { throw error }
    guard let record = result.value, let asset = record.fields[key]?.value.assets.first else {
      throw CloudError(.unknownItem, "the field '\(key)' of the record holds no file")
    }
    let download = DownloadAsset(record: id, key: key, checksum: asset.checksum)
    guard
      case .assetContent(let content) = try await visit.device.send(
        visit.call(.downloadAsset(download)))
    else { throw CloudError(.assetNotAvailable, "the file is not there") }
    let upload = UploadAsset(recordType: record.type, key: key, content: content)
    guard
      case .assetUploaded(let kept) = try await visit.device.send(
        visit.call(.uploadAsset(upload), "/rereference/\(index)"))
    else { throw CloudError(.internalError, "a file was brought and something else came back") }
    return visit.notation.json(kept)
  }

  /// The answer to a ticket whose time is over, which needs no body; `nil` while it is good.
  func refusal(of ticket: Ticket, _ head: HTTPRequestHead) -> HTTPResponse? {
    guard case .upload(let holder, _, _, _, let until) = ticket, tokens.clock() > until else {
      return nil
    }
    return failure(
      CloudError(.serverRejectedRequest, "the time to bring this file is over; ask again"),
      notation(of: holder, head))
  }

  /// How the answer to a ticket's request is written.
  private func notation(of holder: Ticket.Holder, _ head: HTTPRequestHead) -> Notation {
    Notation(
      container: holder.container, database: holder.database,
      isExact: head.value(EnvelopeHeader.exact) != nil)
  }

  /// Answers whoever shows a ticket.
  func answer(_ ticket: Ticket, _ request: HTTPRequest) async -> HTTPResponse? {
    switch ticket {
    case .courier(let holder):
      return await courier.answer(
        holder, server, isExact: request.head.value(EnvelopeHeader.exact) != nil)
    case .upload(let holder, let recordType, let key, let requestID, _):
      let notation = notation(of: holder, request.head)
      let upload = UploadAsset(recordType: recordType, key: key, content: request.body)
      do throws(CloudError) {
        let call = holder.call(.uploadAsset(upload), id: requestID)
        guard case .assetUploaded(let asset) = try await device(holder).send(call) else {
          throw CloudError(.internalError, "a file was brought and something else came back")
        }
        return .json(200, .members(["singleFile": uploaded(asset, notation)]))
      } catch { return failure(error, notation) }
    case .download(let holder, let id, let key, let checksum):
      let download = DownloadAsset(record: id, key: key, checksum: checksum)
      do throws(CloudError) {
        let call = holder.call(.downloadAsset(download), id: UUID().uuidString)
        guard case .assetContent(let content) = try await device(holder).send(call) else {
          throw CloudError(.assetNotAvailable, "the file is not there")
        }
        return .file(content, checksum: checksum, to: request.head)
      } catch { return failure(error, notation(of: holder, request.head)) }
    }
  }

  private func device(_ holder: Ticket.Holder) -> LoopbackDevice {
    server.remoteDevice(
      holder.device, account: holder.account.isEmpty ? nil : holder.account)
  }

  /// What an upload answers: with the two members that clients of Apple's service send back, which
  /// mean nothing here.
  private func uploaded(_ asset: Asset, _ notation: Notation) -> JSON {
    var members = notation.json(asset).members ?? JSON.Members()
    members.add("referenceChecksum", .string(asset.checksum))
    members.add(
      "wrappingKey", .string(Notation.base64(Array(asset.checksum.utf8.prefix(16)))))
    return .object(members)
  }
}

extension HTTPResponse {
  /// The content of a file, or the part of it that the request wants.
  ///
  /// A file's checksum is its entity tag: behind one URL is always the same content.
  fileprivate static func file(
    _ content: [UInt8], checksum: String, to head: HTTPRequestHead
  ) -> HTTPResponse {
    let tag = "\"\(checksum)\""
    var response = HTTPResponse(
      200,
      fields: [
        .init(name: "etag", value: tag), .init(name: "accept-ranges", value: "bytes"),
        .init(name: "cache-control", value: "private, no-cache"),
      ])
    switch HTTPSelection(head, count: content.count, tag: tag) {
    case .whole: response.body = content
    case .part(let range):
      response.status = 206
      response.body = Array(content[range])
      let bytes = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
      response.fields.append(.init(name: "content-range", value: bytes))
    case .unsatisfiable:
      response = HTTPResponse(HTTPRefusal(416, "the file has no such bytes"))
      response.fields.append(.init(name: "content-range", value: "bytes */\(content.count)"))
      return response
    case .notModified:
      response.status = 304
      return response
    case .preconditionFailed:
      return HTTPResponse(HTTPRefusal(412, "the file is another one than the condition names"))
    }
    response.fields += [
      .init(name: "content-type", value: "application/octet-stream"),
      .init(name: "x-content-type-options", value: "nosniff"),
      .init(name: "content-disposition", value: "attachment"),
    ]
    return response
  }
}
