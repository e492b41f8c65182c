package import CloudProtocol
package import Records

/// Plans of the rows that requests are going to read.
extension CloudMachine {
  /// Tells the storage what `begin` is going to read for a call.
  ///
  /// - Parameters:
  ///   - name: the name of the caller's account; `nil` without one.
  ///   - user: the user of the account.
  ///   - readsReceipt: whether the caller chose the ID of the request.
  package func foresee(
    _ call: CloudCall, account name: String?, user: UserID?, device: String,
    readsReceipt: Bool = true, in storage: any CloudStorage
  ) throws {
    try storage.foresee {
      let database = DatabaseID(
        container: call.container, environment: call.environment, scope: call.database,
        owner: call.database == .public ? nil : user)
      let context = RequestContext(
        storage: storage, limits: limits, database: database,
        account: user.map { AccountRow(name: name ?? "", user: $0) }, device: device,
        now: Timestamp(secondsSinceReferenceDate: 0))
      var plan = ReadPlan()
      plan.accounts = name.map { [$0] } ?? []
      plan.users = user.map { [$0] } ?? []
      // A change without an account is refused, and must neither lock nor create anything.
      let isRefused = name == nil && call.request.isMutation
      if !call.request.isMutation || isRefused { plan.access = .reading }
      if isRefused { return plan }
      if call.request.isMutation, readsReceipt, let user {
        plan.receipt = ReceiptKey(user: user, device: device, requestID: call.requestID)
      }
      plan.isComplete = call.database != .shared && call.request.isLookup
      addReads(of: context.resolved(call.request), context, to: &plan)
      return plan
    }
  }

  private func addReads(
    of request: CloudRequest, _ context: RequestContext, to plan: inout ReadPlan
  ) {
    let database = context.database
    switch request {
    case .modifyRecords(let request): plan.add(request, context)
    case .fetchRecords(let request):
      for id in request.ids { plan.addZone(id.zone, context) }
      plan.add(request.ids, to: \.records, context)
    case .fetchZoneChanges(let request):
      plan.includesIdentity = true
      plan.databases = [database]
      plan.addZone(request.zone, context)
      let limit = pageSize(request.limit, limits.zoneChangesPage)
      plan.page = ReadPlan.Page(
        zone: ZoneID(name: request.zone.name), database: context.home(of: request.zone),
        after: request.since.flatMap(FeedPosition.sequence(in:)) ?? 0, limit: limit + 1)
    case .fetchDatabaseChanges(let request):
      plan.includesIdentity = true
      plan.databases = [database]
      let limit = pageSize(request.limit, limits.databaseChangesPage)
      plan.page = ReadPlan.Page(
        zone: nil, database: database,
        after: request.since.flatMap(FeedPosition.sequence(in:)) ?? 0, limit: limit + 1)
    case .fetchZones(let zones):
      plan.includesIdentity = true
      plan.databases = [database]
      for zone in zones ?? [] { plan.addZone(zone, context) }
    case .modifyZones(let request):
      plan.databases = ([database] + context.owners(of: request.delete)).sorted()
      for zone in request.save + request.delete { plan.addZone(zone, context) }
      plan.subscriptions = [database]
    case .modifySubscriptions, .fetchSubscriptions:
      plan.databases = request.isMutation ? [context.subscriptionHome] : []
      plan.subscriptions = [context.subscriptionHome]
    case .queryRecords(let request):
      plan.includesIdentity = true
      plan.recordTypes = [
        RecordTypeID(
          container: database.container, environment: database.environment,
          name: request.query.recordType
        )
      ]
      guard let zone = request.zone else { break }
      plan.addZone(zone, context)
      guard database.scope != .shared else { break }
      plan.typePage = firstPage(request, in: zone, of: context.home(of: zone))
    case .fetchCurrentUser, .resolveShares, .acceptShares, .findUsers,
      .uploadAsset, .downloadAsset:
      plan.includesIdentity = true
    }
  }

  private func pageSize(_ asked: Int?, _ most: Int) -> Int {
    let asked = max(0, asked ?? 0)
    return asked == 0 ? max(1, most) : max(1, min(asked, most))
  }
}

extension CloudRequest {
  /// Whether the request reads only what it names.
  fileprivate var isLookup: Bool {
    switch self {
    case .fetchCurrentUser, .fetchRecords, .fetchZoneChanges, .fetchDatabaseChanges: true
    case .fetchZones(let zones): zones != nil
    case .fetchSubscriptions: true
    case .queryRecords(let request): request.zone != nil
    case .resolveShares, .findUsers, .downloadAsset, .modifyZones, .modifyRecords,
      .modifySubscriptions, .acceptShares, .uploadAsset:
      false
    }
  }
}

extension RequestContext {
  /// The databases of the owners of zones that are left.
  fileprivate func owners(of zones: [ZoneID]) -> [DatabaseID] {
    guard database.scope == .shared else { return [] }
    let owners = Set(zones.map(\.owner)).subtracting([ZoneID.currentOwner])
    return owners.map { database.home(of: UserID($0)) }
  }

  /// The database that holds the records of `zone`, in the spelling of rows.
  fileprivate func home(of zone: ZoneID) -> DatabaseID {
    database.scope == .shared ? database.home(of: UserID(zone.owner)) : database
  }
}

extension ReadPlan {
  /// The rows of databases that a transaction is about to change, before it reads anything else of
  /// them.
  init(changing databases: Set<DatabaseID>) {
    self.init()
    self.databases = databases.sorted()
  }

  /// What a change of a zone reads about its viewers, whose shared databases it changes.
  init(viewers: [UserID], of zone: ZoneID, in home: DatabaseID) {
    self.init()
    users = viewers
    databases = viewers.map(home.shared(with:)).sorted()
    subscriptions = databases
    let mount = ZoneID(name: zone.name, owner: home.owner?.rawValue ?? "")
    for database in databases { zones[database] = [mount] }
  }

  /// Records of a zone, and with `links` the references to them.
  init(records ids: [RecordID], links isWithLinks: Bool, in zone: ZoneID, of home: DatabaseID) {
    self.init()
    records = [ZoneRecords(zone: zone, database: home, names: ids.map(\.name))]
    if isWithLinks { links = records }
  }

  fileprivate mutating func addZone(_ zone: ZoneID, _ context: RequestContext) {
    zones.insert(zone, in: context.database)
    guard context.database.scope == .shared else { return }
    let owner = UserID(zone.owner)
    if !users.contains(owner) { users.append(owner) }
    zones.insert(ZoneID(name: zone.name), in: context.home(of: zone))
  }

  /// Adds records by zone, in the spelling of rows of their home.
  fileprivate mutating func add(
    _ ids: some Sequence<RecordID>, to list: WritableKeyPath<ReadPlan, [ZoneRecords]>,
    _ context: RequestContext
  ) {
    var groups: [(zone: ZoneID, names: [String])] = []
    // The group that was used last, which most IDs use again.
    var latest = 0
    for id in ids {
      if !groups.indices.contains(latest) || groups[latest].zone != id.zone {
        latest = groups.firstIndex { $0.zone == id.zone } ?? groups.count
        if latest == groups.count { groups.append((id.zone, [])) }
      }
      groups[latest].names.append(id.name)
    }
    for (zone, names) in groups {
      self[keyPath: list].append(
        ZoneRecords(
          zone: ZoneID(name: zone.name), database: context.home(of: zone), names: names))
    }
  }

  fileprivate mutating func add(_ request: ModifyRecords, _ context: RequestContext) {
    var zones: Set<ZoneID> = []
    var latest: ZoneID?
    var (new, known): ([RecordID], [RecordID]) = ([], request.delete)
    var types: Set<String> = []
    var targets: Set<RecordID> = []
    var owners: Set<RecordID> = Set(request.delete)
    for id in request.delete { zones.insert(id.zone) }
    for save in request.save {
      if save.id.zone != latest { zones.insert(save.id.zone) }
      latest = save.id.zone
      if save.isInsertion(under: request.policy) {
        new.append(save.id)
      } else {
        known.append(save.id)
      }
      types.insert(save.type)
      var links: [(target: RecordID, kind: RecordLink.Kind)] = []
      if case .set(let parent?) = save.parent { links.append((parent, .parent)) }
      if let root = save.sharing?.root { links.append((root, .deleteSelf)) }
      for change in save.changes { change.field?.value.collectLinks(into: &links) }
      for link in links {
        targets.insert(link.target)
        if link.kind == .deleteSelf { owners.insert(link.target) }
      }
    }
    addHomes(of: zones, context)
    targets.formUnion(zones.map { RecordID(name: ShareDetails.zoneWideName, zone: $0) })
    add(new, to: \.newRecords, context)
    add(known + targets.subtracting(known).subtracting(new), to: \.records, context)
    add(owners, to: \.links, context)
    recordTypes = types.map {
      RecordTypeID(
        container: context.database.container, environment: context.database.environment, name: $0)
    }
  }

  /// Adds the databases of zones that change, which are locked, and their subscriptions.
  private mutating func addHomes(of zones: Set<ZoneID>, _ context: RequestContext) {
    var homes: [DatabaseID] = []
    for zone in zones.sorted() {
      addZone(zone, context)
      let home = context.home(of: zone)
      if !homes.contains(home) { homes.append(home) }
    }
    // A participant's own shared database usually changes with the zone.
    databases = (homes + (context.database.scope == .shared ? [context.database] : [])).sorted()
    if context.database.scope == .public {
      subscriptionHomes = context.database
    } else {
      subscriptions = homes
    }
  }
}

extension RecordSave {
  /// Whether the save fails if the record exists.
  fileprivate func isInsertion(under policy: SavePolicy) -> Bool {
    changeTag == nil && (self.policy ?? policy) == .ifServerRecordUnchanged && sharing == nil
      && !type.isEmpty
  }
}

extension [DatabaseID: [ZoneID]] {
  fileprivate mutating func insert(_ zone: ZoneID, in database: DatabaseID) {
    if self[database]?.contains(zone) != true { self[database, default: []].append(zone) }
  }
}
