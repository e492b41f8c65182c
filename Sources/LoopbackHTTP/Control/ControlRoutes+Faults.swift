package import CloudProtocol
import LoopbackServer
import Records
import WebServices

/// Fault injection, administration, and the state of devices.
extension ControlRoutes {
  /// The action to perform after the whole body was validated.
  fileprivate typealias Order = () throws(CloudError) -> Void

  /// The maximum count of a fault, and the maximum value of a limit.
  private static let most = 1 << 31

  private var controls: FaultControls { server.controls }

  /// The pending faults, the held requests, and the limits and quotas that were changed.
  func faults() throws(HTTPRefusal) -> JSON {
    try ask(controls.synchronize)
    let (limits, first) = (ControlNotation.json(controls.limits), ControlNotation.json(firstLimits))
    let changed = (limits.members?.elements ?? []).filter { first[$0.name] != $0.value }
    let accounts = try ask { () throws(CloudError) in try server.accounts() }
    return .members([
      "faults": .array(
        controls.pendingFaults.map(ControlNotation.json)
          + controls.pendingPushLosses.map(ControlNotation.json)),
      "heldRequests": .array(controls.heldRequests.map(ControlNotation.json)),
      "holdsPushes": .bool(controls.holdsPushes),
      "heldPushes": .array(controls.heldPushes.map(ControlNotation.json)),
      "limits": limits, "changedLimits": .object(JSON.Members(changed)),
      "quotas": .array(
        accounts.compactMap { account in
          account.quota.map {
            .members(["account": .string(account.name), "bytes": .integer($0)])
          }
        }),
    ])
  }

  /// Performs the action in `body`, or each action of an array in its order.
  ///
  /// If one of them is invalid, or names an account or a device that does not exist, none is
  /// performed. An action that changes stored data and fails ends the array: those before it were
  /// performed.
  func carryOut(_ body: [UInt8]) throws(HTTPRefusal) {
    // The actions change what servers that share the data have set, such as the limits.
    try? controls.synchronize()
    let isList = body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
    let orders = try ControlArguments.forEach(in: body) { (arguments) throws(HTTPRefusal) in
      try validatedOrder(&arguments)
    }
    for (index, order) in orders.enumerated() {
      do throws(HTTPRefusal) { try ask(order) } catch {
        try? controls.synchronize()
        throw isList ? error.inItem(index) : error
      }
    }
    // Fails if a server that shares its faults with others could not store the change.
    try ask(controls.synchronize)
  }

  /// Validates the body of a request that changes faults, and changes nothing.
  ///
  /// Accounts and devices need not exist: another server may know them.
  ///
  /// - Throws: `invalidArguments` with the mistake.
  package func checkFault(_ body: [UInt8]) throws(CloudError) {
    var routes = self
    routes.acceptsUnknownNames = true
    do throws(HTTPRefusal) {
      var arguments = try ControlArguments(body)
      _ = try routes.validatedOrder(&arguments)
    } catch {
      throw CloudError(.invalidArguments, error.reason)
    }
  }

  private func validatedOrder(
    _ arguments: inout ControlArguments
  ) throws(HTTPRefusal) -> Order {
    guard let action: FaultAction = try arguments.word("action", spelled: { $0.rawValue }) else {
      let words = FaultAction.allCases.map(\.rawValue).joined(separator: ", ")
      throw HTTPRefusal(400, "'action' is missing: it must be one of \(words)")
    }
    let order = try order(for: action, &arguments)
    try arguments.finish()
    return order
  }

  private func order(
    for action: FaultAction, _ arguments: inout ControlArguments
  ) throws(HTTPRefusal) -> Order {
    switch action {
    case .fail: return try fail(&arguments)
    case .dropAnswers: return try dropAnswers(&arguments)
    case .delay: return try delay(&arguments)
    case .hold: return try hold(&arguments)
    case .release: return try release(&arguments)
    case .remove: return try remove(&arguments)
    case .clear: return clear
    case .dropPushes: return try dropPushes(&arguments)
    case .holdPushes: return { [controls] in controls.holdPushes() }
    case .releasePushes: return { [controls] in controls.releasePushes() }
    case .deliverPush: return try deliverPush(&arguments)
    case .device: return try setDevice(&arguments)
    case .limits: return try setLimits(&arguments)
    case .quota: return try setQuota(&arguments)
    case .person: return try setPerson(&arguments)
    case .eraseData: return try eraseData(&arguments)
    case .deleteZone: return try change(&arguments, controls.deleteZone)
    case .purgeZone: return try change(&arguments, controls.purgeZone)
    case .resetEncryptedData: return try change(&arguments, controls.resetEncryptedData)
    case .expireTokens: return try changeAll(&arguments, controls.expireTokens)
    case .trimTombstones: return try changeAll(&arguments, controls.trimTombstones)
    case .deploySchema:
      let container = try arguments.text("container")
      return { [controls] () throws(CloudError) in
        try controls.deploySchema(container: container)
      }
    case .setIndexes: return try setIndexes(&arguments)
    case .forgetRequests: return { [controls] in controls.forgetRequests() }
    }
  }
}

/// Requests and pushes.
extension ControlRoutes {
  private func remove(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    guard let number = try arguments.count("number", in: 1...ControlRoutes.most) else {
      throw HTTPRefusal(400, "'number' is missing: the number of a fault, as it is listed")
    }
    return { [controls] () throws(CloudError) in
      guard controls.removeFault(number) else {
        throw CloudError(.unknownItem, "there is no fault \(number); list the faults")
      }
    }
  }

  /// Removes all faults, and sets limits, quotas and devices as they were at the start.
  private func clear() throws(CloudError) {
    controls.clear()
    controls.restoreDevices()
    controls.setLimits(firstLimits)
    for account in try server.accounts() where account.quota != nil {
      try controls.setQuota(nil, of: account.name)
    }
  }

  private func count(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Int? {
    try arguments.count("count", in: 1...ControlRoutes.most)
  }

  private func scope(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> RequestScope {
    RequestScope(
      kind: try arguments.word("kind") { $0.rawValue },
      device: try arguments.optionalText("device"))
  }

  private func fail(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments) ?? 1
    guard let code = try arguments.code("code") else {
      throw HTTPRefusal(400, "'code' is missing: the error code that the requests fail with")
    }
    let retryAfter = try arguments.seconds("retryAfter") ?? code.retrySeconds
    let scope = try scope(&arguments)
    return { [controls] in
      controls.fail(next: count, with: code, retryAfter: retryAfter, in: scope)
    }
  }

  private func dropAnswers(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments) ?? 1
    let code = try arguments.code("code") ?? .networkFailure
    let scope = try scope(&arguments)
    return { [controls] in controls.dropAnswers(next: count, as: code, in: scope) }
  }

  private func delay(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments) ?? 1
    guard let seconds = try arguments.seconds("seconds") else {
      throw HTTPRefusal(400, "'seconds' is missing: how long the requests wait")
    }
    let scope = try scope(&arguments)
    return { [controls] in controls.delay(next: count, by: seconds, in: scope) }
  }

  private func hold(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments) ?? .max
    let point: HoldPoint = try arguments.word("point") { $0.rawValue } ?? .beforeCommit
    let scope = try scope(&arguments)
    return { [controls] in controls.hold(next: count, at: point, in: scope) }
  }

  private func release(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments)
    let scope = try scope(&arguments)
    return { [controls] in controls.release(count, in: scope) }
  }

  private func dropPushes(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let count = try count(&arguments) ?? 1
    let device = try arguments.optionalText("device")
    return { [controls] in controls.dropPushes(next: count, to: device) }
  }

  private func deliverPush(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let device = try knownDevice(&arguments)
    let push = CloudPush(
      container: try arguments.text("container"),
      database: try arguments.word("database") { $0.pathName } ?? .private,
      subscription: SubscriptionID(try arguments.text("subscription")),
      zone: try arguments.optionalText("zone").map { ZoneID(name: $0) })
    return { [controls] in controls.deliver(push, to: device) }
  }
}

/// Devices, limits and accounts.
extension ControlRoutes {
  /// The name of a device that exists.
  private func knownDevice(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> String {
    let name = try arguments.text("device")
    // Another server on the same data may know it.
    guard
      acceptsUnknownNames || controls.isShared
        || server.knownDevices().contains(where: { $0.name == name })
    else {
      throw HTTPRefusal(404, "the server knows no device of this name")
    }
    return name
  }

  /// The name of an account that exists.
  private func knownAccount(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> String {
    let name = try arguments.text("account")
    if acceptsUnknownNames { return name }
    let known = try people().map(\.name)
    guard known.contains(name) else {
      let some = known.sorted().prefix(10).map { "'\($0)'" }.joined(separator: ", ")
      throw HTTPRefusal(
        404, "there is no account '\(name)'; there \(known.isEmpty ? "is none" : "are \(some)")")
    }
    return name
  }

  private func setDevice(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let name = try knownDevice(&arguments)
    let account = try arguments.optionalText("account")
    let isOnline = try arguments.flag("online")
    let availability: AccountAvailability? = try arguments.word("availability") { $0.rawValue }
    guard isOnline != nil || availability != nil else {
      throw HTTPRefusal(400, "'online' or 'availability' must be given")
    }
    return { [controls] in
      if let availability {
        controls.setAvailability(availability, device: name, account: account)
      }
      if let isOnline { controls.setOnline(isOnline, device: name, account: account) }
    }
  }

  private func setLimits(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    var sizes: [(path: WritableKeyPath<ServerLimits, Int>, value: Int)] = []
    for (name, path) in LimitNames.sizes {
      if let size = try arguments.count(name, in: 1...ControlRoutes.most) {
        sizes.append((path, size))
      }
    }
    var flags: [(path: WritableKeyPath<ServerLimits, Bool>, value: Bool)] = []
    for (name, path) in LimitNames.flags {
      if let flag = try arguments.flag(name) { flags.append((path, flag)) }
    }
    var throttle: ServerLimits.Throttle??
    if arguments.isNull("throttle") {
      throttle = .some(nil)
    } else if var inner = try arguments.object("throttle") {
      guard let requests = try inner.count("requests", in: 1...ControlRoutes.most),
        let seconds = try inner.seconds("seconds"), seconds > 0
      else { throw HTTPRefusal(400, "'throttle' needs 'requests' and 'seconds', greater than 0") }
      try inner.finish()
      throttle = ServerLimits.Throttle(requests: requests, seconds: seconds)
    }
    return { [controls] in
      // An action before this one in the same request may have changed others.
      var limits = controls.limits
      for (path, size) in sizes { limits[keyPath: path] = size }
      for (path, flag) in flags { limits[keyPath: path] = flag }
      if let throttle { limits.throttle = throttle }
      controls.setLimits(limits)
    }
  }

  private func setQuota(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let account = try knownAccount(&arguments)
    guard arguments.has("bytes") else {
      throw HTTPRefusal(400, "'bytes' is missing: a whole number, or null for no quota")
    }
    let bytes =
      arguments.isNull("bytes") ? nil : try arguments.count("bytes", in: 0...(1 << 50))
    return { [controls] () throws(CloudError) in try controls.setQuota(bytes, of: account) }
  }

  private func setPerson(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let account = try arguments.text("account")
    try ask { () throws(CloudError) in try ServerKeys.checkSignIn(account) }
    let email = try arguments.optionalText("email")
    let phone = try arguments.optionalText("phone")
    let givenName = try arguments.optionalText("givenName")
    let familyName = try arguments.optionalText("familyName")
    return { [controls] () throws(CloudError) in
      try controls.setPerson(
        of: account, email: email, phone: phone, givenName: givenName, familyName: familyName)
    }
  }
}

/// Databases and schemas.
extension ControlRoutes {
  private func environment(
    _ arguments: inout ControlArguments
  ) throws(HTTPRefusal) -> CloudEnvironment {
    try arguments.word("environment") { $0.rawValue } ?? .development
  }

  /// A change to a zone, given its name, container, account and environment.
  private typealias ZoneChange<Zone> = (Zone, String, String, CloudEnvironment) throws(CloudError)
    -> Void

  private func change(
    _ arguments: inout ControlArguments, _ work: @escaping ZoneChange<ZoneID>
  ) throws(HTTPRefusal) -> Order {
    let zone = ZoneID(name: try arguments.text("zone"))
    let container = try arguments.text("container")
    let account = try knownAccount(&arguments)
    let environment = try environment(&arguments)
    return { () throws(CloudError) in try work(zone, container, account, environment) }
  }

  /// Changes a zone, or the whole database if the body names no zone.
  private func changeAll(
    _ arguments: inout ControlArguments, _ work: @escaping ZoneChange<ZoneID?>
  ) throws(HTTPRefusal) -> Order {
    let zone = try arguments.optionalText("zone").map { ZoneID(name: $0) }
    let container = try arguments.text("container")
    let account = try knownAccount(&arguments)
    let environment = try environment(&arguments)
    return { () throws(CloudError) in try work(zone, container, account, environment) }
  }

  private func eraseData(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let container = try arguments.text("container")
    let account = try knownAccount(&arguments)
    let environment = try environment(&arguments)
    return { [controls] () throws(CloudError) in
      try controls.eraseData(of: account, container: container, environment: environment)
    }
  }

  private func setIndexes(_ arguments: inout ControlArguments) throws(HTTPRefusal) -> Order {
    let field = try arguments.text("field")
    let type = try arguments.text("recordType")
    let container = try arguments.text("container")
    let environment = try environment(&arguments)
    let queryable = try arguments.flag("queryable") ?? false
    let sortable = try arguments.flag("sortable") ?? false
    let searchable = try arguments.flag("searchable") ?? false
    return { [controls] () throws(CloudError) in
      try controls.setIndexes(
        of: field, recordType: type, container: container, environment: environment,
        queryable: queryable, sortable: sortable, searchable: searchable)
    }
  }
}

extension CloudError.Code {
  /// The seconds to wait of an injected error that says nothing else: CloudKit's clients repeat a
  /// request only after an error with a time; `nil` for errors that are not repeated.
  fileprivate var retrySeconds: Double? {
    [.requestRateLimited, .serviceUnavailable, .zoneBusy].contains(self) ? 1 : nil
  }
}
