import CloudProtocol
import LoopbackServer
import Records
import WebServices

/// The JSON form of the server's own types: member names as in Swift, times in milliseconds since
/// 1970, absent values omitted.
enum ControlNotation {
  static func json(_ time: Timestamp) -> JSON { .integer(Notation.milliseconds(time)) }

  static func text(_ value: String?) -> JSON? { value.map { .string($0) } }

  static func json(_ account: ServerAccount) -> JSON {
    .members([
      "account": .string(account.name), "userRecordName": .string(account.user.rawValue),
      "quota": account.quota.map { .integer($0) },
    ])
  }

  static func json(_ database: ServerDatabase) -> JSON {
    .members([
      "container": .string(database.container),
      "environment": .string(database.environment.rawValue),
      "scope": .string(database.scope.pathName), "account": text(database.account),
      "byteCount": .integer(database.byteCount),
    ])
  }

  static func json(_ device: ServerDevice) -> JSON {
    .members([
      "name": .string(device.name), "account": text(device.account),
      "availability": .string(device.availability.rawValue), "online": .bool(device.isOnline),
      "listening": .bool(device.observerCount > 0),
      "waitingPushes": .integer(device.waitingPushCount),
    ])
  }

  static func json(_ change: ServerChange) -> JSON {
    .members([
      // A sequence number never reaches the maximum of Int64 in practice.
      "sequence": .integer(Int64(clamping: change.sequence)),
      "recordName": .string(change.record.name), "recordType": .string(change.type),
      "recordChangeTag": text(change.changeTag?.rawValue), "device": text(change.device),
      "deleted": .bool(change.isDeletion),
    ])
  }

  static func json(_ field: FieldRow) -> JSON {
    .members([
      "name": .string(field.key), "kind": text(field.shape.map { "\($0.kind)" }),
      "element": text(field.shape?.element.map { "\($0)" }),
      "isEncrypted": field.shape?.isEncrypted == true ? .bool(true) : nil,
      "queryable": .bool(field.indexes.contains(.queryable)),
      "sortable": .bool(field.indexes.contains(.sortable)),
      "searchable": .bool(field.indexes.contains(.searchable)),
    ])
  }

  static func json(_ entry: RequestEntry) -> JSON {
    var outcome = "pending"
    var code: CloudError.Code?
    switch entry.outcome {
    case .pending: break
    case .answered: outcome = refusals(entry) ?? "answered"
    case .failed(let failure): (outcome, code) = ("failed", failure)
    }
    return .members([
      "number": .integer(entry.number), "time": json(entry.time), "device": .string(entry.device),
      "account": text(entry.account), "container": .string(entry.container),
      "environment": .string(entry.environment.rawValue),
      "database": .string(entry.database.pathName), "kind": .string(entry.kind.rawValue),
      "itemCount": .integer(entry.itemCount), "requestID": .string(entry.requestID),
      "milliseconds": entry.seconds.flatMap { Int64(exactly: ($0 * 1000).rounded()) }.map {
        .integer($0)
      },
      "outcome": .string(outcome), "code": code.map { .string("\($0)") },
      "refusedItems": entry.refusedItems.isEmpty
        ? nil
        : .array(
          entry.refusedItems.map { .string(Notation.errorCode(for: $0).name) }),
    ])
  }

  /// The number of refused items and their codes, each once; `nil` if none was refused.
  private static func refusals(_ entry: RequestEntry) -> String? {
    guard !entry.refusedItems.isEmpty else { return nil }
    var names: [String] = []
    for code in entry.refusedItems {
      let name = Notation.errorCode(for: code).name
      if !names.contains(name) { names.append(name) }
    }
    let count = max(entry.itemCount, entry.refusedItems.count)
    return "\(entry.refusedItems.count) of \(count) refused: \(names.joined(separator: ", "))"
  }

  static func json(_ entry: PushEntry) -> JSON {
    let push = entry.push
    return .members([
      "device": .string(entry.device), "fate": .string(entry.fate.rawValue),
      "container": .string(push.container), "database": .string(push.database.pathName),
      "subscriptionID": .string(push.subscription.rawValue),
      "zone": text((push.query?.record.zone ?? push.zone)?.name),
      "recordName": text(push.query?.record.name),
      "reason": text(push.query.map { "\($0.reason)" }),
    ])
  }

  static func json(_ event: ServerEvent) -> JSON {
    var members = JSON.Members()
    members.add("number", .integer(event.number))
    members.add("time", json(event.time))
    switch event.content {
    case .request(let entry):
      members.add("kind", .string("request"))
      members.add("request", json(entry))
    case .push(let entry):
      members.add("kind", .string("push"))
      members.add("push", json(entry))
    case .administration(let container, let environment, let account):
      members.add("kind", .string("administration"))
      members.add(
        "administration",
        .members([
          "container": .string(container), "environment": .string(environment.rawValue),
          "account": text(account),
        ]))
    case .replacement: members.add("kind", .string("replacement"))
    }
    return .object(members)
  }

  static func json(_ fault: PendingFault) -> JSON {
    var members = JSON.Members()
    members.add("number", .integer(fault.number))
    switch fault.action {
    case .fail(let code, let retryAfter):
      members.add("action", .string("fail"))
      members.add("code", .string("\(code)"))
      members.add("retryAfter", retryAfter.map { .number($0) })
    case .dropAnswer(let code):
      members.add("action", .string("drop-answers"))
      members.add("code", .string("\(code)"))
    case .delay(let seconds):
      members.add("action", .string("delay"))
      members.add("seconds", .number(seconds))
    case .hold(let point):
      members.add("action", .string("hold"))
      members.add("point", .string(point.rawValue))
    case .run: members.add("action", .string("run"))
    }
    members.add("kind", text(fault.scope.kind?.rawValue))
    members.add("device", text(fault.scope.device))
    members.add("count", fault.remaining.map { .integer($0) })
    return .object(members)
  }

  static func json(_ loss: PendingPushLoss) -> JSON {
    .members([
      "action": .string("drop-pushes"), "device": text(loss.device),
      "count": .integer(loss.remaining),
    ])
  }

  static func json(_ limits: ServerLimits) -> JSON {
    var members = JSON.Members()
    for (name, path) in LimitNames.sizes { members.add(name, .integer(limits[keyPath: path])) }
    for (name, path) in LimitNames.flags { members.add(name, .bool(limits[keyPath: path])) }
    members.add(
      "throttle",
      limits.throttle.map {
        .members(["requests": .integer($0.requests), "seconds": .number($0.seconds)])
      })
    return .object(members)
  }
}
