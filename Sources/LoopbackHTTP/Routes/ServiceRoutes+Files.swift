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
    try checkCount(asked.count, "places for files")
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
    try checkCount(asked.count, "files")
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
  func refusal(of ticket: Ticket) -> HTTPResponse? {
    guard case .upload(let holder, _, _, _, let until) = ticket, tokens.clock() > until else {
      return nil
    }
    return failure(
      CloudError(.serverRejectedRequest, "the time to bring this file is over; ask again"),
      Notation(container: holder.container, database: holder.database))
  }

  /// Answers whoever shows a ticket.
  func answer(_ ticket: Ticket, _ request: HTTPRequest) async -> HTTPResponse {
    switch ticket {
    case .courier(let holder): return await courier.answer(holder, server)
    case .upload(let holder, let recordType, let key, let requestID, _):
      let notation = Notation(container: holder.container, database: holder.database)
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
        return HTTPResponse(
          200,
          fields: [
            .init(name: "content-type", value: "application/octet-stream"),
            .init(name: "x-content-type-options", value: "nosniff"),
            .init(name: "content-disposition", value: "attachment"),
          ], body: content)
      } catch {
        return failure(error, Notation(container: holder.container, database: holder.database))
      }
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
