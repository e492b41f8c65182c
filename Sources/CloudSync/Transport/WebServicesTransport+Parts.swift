import CloudProtocol
import Records
import SyncMachine
import WebServices

/// Splits requests for several zones, for a service whose requests are limited to one zone.
extension WebServicesTransport {
  /// The most operations or names in one request to Apple's service.
  private static let itemsPerRequest = 200

  private func refuse(itemCount: Int) throws(CloudError) {
    guard itemCount <= WebServicesTransport.itemsPerRequest else {
      throw CloudError(
        .limitExceeded,
        "the request holds \(itemCount) items, more than the "
          + "\(WebServicesTransport.itemsPerRequest) that one may hold; send it in parts")
    }
  }

  func fetch(
    _ request: FetchRecords, _ call: CloudCall, since epoch: Int
  ) async throws(CloudError) -> CloudReply {
    try refuse(itemCount: request.ids.count)
    var results: [RecordID: ItemResult<RecordID, Record>] = [:]
    for zone in request.ids.map(\.zone).withoutRepetitions {
      var part = request
      part.ids = request.ids.filter { $0.zone == zone }
      var call = call
      call.request = .fetchRecords(part)
      guard case .records(let found) = try await session.run(call, since: epoch) else {
        throw .misplaced
      }
      for (id, result) in zip(part.ids, found) { results[id] = result }
    }
    return .records(request.ids.compactMap { results[$0] })
  }

  /// Sends the parts of a change one after the other.
  ///
  /// A record with a value for which such a service has no form fails on its own; in an atomic
  /// request the other records of its zone fail with it, and none of them is sent. The failure of a
  /// later part is reported for its items only, since the earlier parts have been carried out. No
  /// request follows a failure after which requests are retried, a wait that the server asked for,
  /// or a cancellation.
  func modify(
    _ request: ModifyRecords, _ call: CloudCall, since epoch: Int
  ) async throws(CloudError) -> CloudReply {
    try refuse(itemCount: request.save.count + request.delete.count)
    let refused = RefusedChanges(request, WebServicesTransport.faults(of: request))
    let request = refused.rest(of: request)
    var saved: [RecordID: ItemResult<RecordID, Record>] = [:]
    var deleted: [RecordID: ItemResult<RecordID, Done>] = [:]
    let zones = (request.save.map(\.id) + request.delete).map(\.zone).withoutRepetitions
    // The error of the parts that are not sent any more.
    var end: CloudError?
    for (index, zone) in zones.enumerated() {
      var part = request
      part.save = request.save.filter { $0.id.zone == zone }
      part.delete = request.delete.filter { $0.zone == zone }
      var call = call
      call.requestID += "/\(index)"
      call.request = .modifyRecords(part)
      do throws(CloudError) {
        if let end { throw end }
        if Task.isCancelled { throw .wasCancelled }
        guard
          case .recordsModified(let first, let second) = try await session.run(call, since: epoch)
        else { throw .misplaced }
        let errors = first.compactMap(\.error) + second.compactMap(\.error)
        end = errors.first { $0.wait != nil }?.errorOfLaterParts
        let whole = end == nil ? await withServerRecords(first, call, since: epoch) : first
        for (save, result) in zip(part.save, whole) { saved[save.id] = result }
        for (id, result) in zip(part.delete, second) { deleted[id] = result }
      } catch {
        if index == 0 { throw error }
        end = end ?? error.errorOfLaterParts
        for save in part.save { saved[save.id] = ItemResult(id: save.id, .failure(error)) }
        for id in part.delete { deleted[id] = ItemResult(id: id, .failure(error)) }
      }
    }
    return .recordsModified(
      saved: refused.completing(saved: request.save.compactMap { saved[$0.id] }),
      deleted: refused.completing(deleted: request.delete.compactMap { deleted[$0] }))
  }

  /// The errors of the saves with a value that the plain notation has no form for, by index.
  private static func faults(of request: ModifyRecords) -> [Int: CloudError] {
    var faults: [Int: CloudError] = [:]
    for (index, save) in request.save.enumerated() {
      guard let change = save.changes.first(where: { $0.field?.value.hasPlainForm == false })
      else { continue }
      faults[index] = CloudError(
        .invalidArguments,
        "the field \(change.key) has a number that is not finite or a date out of range, which "
          + "this service can't store; save another value, or none")
    }
    return faults
  }

  /// Adds the server's records to conflicts.
  ///
  /// Such a service does not send them, so they are fetched afterwards; when that fails, the
  /// conflict has no server record.
  private func withServerRecords(
    _ results: [ItemResult<RecordID, Record>], _ call: CloudCall, since epoch: Int
  ) async -> [ItemResult<RecordID, Record>] {
    let ids = results.filter {
      $0.error?.code == .serverRecordChanged && $0.error?.serverRecord == nil
    }.map(\.id)
    guard !ids.isEmpty else { return results }
    var call = call
    call.request = .fetchRecords(FetchRecords(ids: ids))
    guard case .records(let found)? = try? await session.run(call, since: epoch) else {
      return results
    }
    let records = Dictionary(zip(ids, found.map(\.value))) { first, _ in first }
    return results.map { result in
      guard var error = result.error, let record = records[result.id] else { return result }
      error.serverRecord = record
      return ItemResult(id: result.id, .failure(error))
    }
  }
}

extension FieldValue {
  /// Whether the plain notation of Web Services has a form for the value.
  fileprivate var hasPlainForm: Bool {
    switch self {
    case .double(let number): number.isFinite
    case .date(let time): Notation.wholeMilliseconds(time) != nil
    case .location(let place):
      Notation.wholeMilliseconds(place.timestamp) != nil
        && [
          place.latitude, place.longitude, place.horizontalAccuracy, place.verticalAccuracy,
          place.altitude, place.speed, place.course,
        ].allSatisfy(\.isFinite)
    case .list(let values): values.allSatisfy(\.hasPlainForm)
    case .string, .int64, .bytes, .reference, .asset: true
    }
  }
}

extension CloudError {
  /// The error for a reply of an unexpected kind.
  static let misplaced = CloudError(
    .internalError, "the server's answer does not belong to the request")

  fileprivate static let wasCancelled = CloudError(
    .operationCancelled, "the request was cancelled before it was sent")

  /// The error of the requests that would follow one with this error; `nil` if they are sent.
  fileprivate var errorOfLaterParts: CloudError? {
    if code.disposition == .retry { return self }
    guard wait != nil else { return nil }
    return CloudError(
      .requestRateLimited, "the server asked to wait before the next request",
      retryAfter: retryAfter)
  }
}
