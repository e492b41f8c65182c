#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records
  import SimulationSupport
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("PostgreSQL: insertions of records that may exist")
  struct PostgreSQLInsertionTests {
    private let machine = CloudMachine()
    private let zone = ZoneID(name: "notes")
    private let user = UserID("_alice")

    private func prepare(_ storage: any CloudStorage) throws {
      try storage.transaction {
        try storage.commit([.putAccount(AccountRow(name: "alice", user: user))])
      }
      _ = try answer(.modifyZones(ModifyZones(save: [zone])), 0, storage)
    }

    /// Answers a request as the server does.
    private func answer(
      _ request: CloudRequest, _ number: Int, _ storage: any CloudStorage
    ) throws -> Result<CloudReply, CloudError> {
      let call = CloudCall(
        container: "c", database: .private, requestID: "\(number)", request: request)
      for _ in 1..<10 {
        do {
          return try storage.transaction {
            try machine.foresee(call, account: "alice", user: user, device: "phone", in: storage)
            let step = try machine.begin(
              call, from: Caller(user: user, device: "phone", availability: .available),
              now: Timestamp(secondsSinceReferenceDate: Double(number)), in: storage)
            guard case .answered(let answer) = step else { return .failure(.cancelled) }
            return answer.result
          }
        } catch is TransactionConflict {}
      }
      return .failure(.cancelled)
    }

    @Test("An account that another server creates at the same time keeps its user")
    func accountsAreCreatedOnce() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, identity: 1)
      let other = try PostgreSQLStorage(database.address)
      var first: UserID?
      storage.watch = { statements in
        guard first == nil, statements.contains(where: { $0.sql.contains("user_name = $1") })
        else { return }
        first = try? other.transaction { try machine.createAccount("bob", in: other).user }
      }
      let user = try storage.transaction { try machine.createAccount("bob", in: storage).user }
      #expect(first != nil && first == user)
      #expect(try other.account(named: "bob")?.user == user)
      try storage.close()
      try other.close()
    }

    @Test("A request saves records in many zones")
    func manyZonesInOneRequest() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, identity: 1)
      try prepare(storage)
      let zones = (1...60).map { ZoneID(name: "zone-\($0)") }
      _ = try answer(.modifyZones(ModifyZones(save: zones)), 1, storage).get()
      let saves = zones.map {
        RecordSave(Record(id: RecordID(name: "n", zone: $0), type: "Note"))
      }
      let reply = try answer(.modifyRecords(ModifyRecords(save: saves)), 2, storage).get()
      guard case .recordsModified(let saved, _) = reply else {
        Issue.record("\(reply)")
        return
      }
      #expect(saved.count == 60 && saved.allSatisfy { $0.error == nil })
      try storage.close()
    }

    private func id(_ number: Int) -> RecordID { RecordID(name: "n\(number)", zone: zone) }

    /// A request that saves many records, most of them without a change tag.
    private func request(
      _ tags: [RecordID: ChangeTag], _ random: inout SeededRandom
    ) -> ModifyRecords {
      let count = random.number(in: 30...60)
      // Some requests name only records that were never saved, others a few that may exist.
      let pool = random.number(in: 0...2) == 0 ? 1000 * random.number(in: 1...9) : 0
      var numbers = Set<Int>()
      while numbers.count < count { numbers.insert(pool + random.number(in: 0...400)) }
      var request = ModifyRecords()
      request.isAtomic = random.number(in: 0...1) == 0
      for number in numbers.sorted() {
        let (id, kind) = (id(number), random.number(in: 0...40))
        if kind == 0 {
          request.delete.append(id)
          continue
        }
        var record = Record(id: id, type: "Note", fields: ["number": .int64(Int64(number))])
        if kind == 1 { record.fields["0 is no key"] = Field(.int64(0)) }
        if kind == 2 { record.changeTag = ChangeTag("other") }
        if kind > 20 { record.changeTag = tags[id] }
        if kind == 3 { record.parent = self.id(random.number(in: 0...400)) }
        request.save.append(RecordSave(record))
      }
      return request
    }

    @Test("Requests with records that exist, are new or are refused get the replies of memory")
    func repliesAreThoseOfMemory() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, identity: 1)
      let memory = MemoryStorage(identity: 1)
      try prepare(storage)
      try prepare(memory)
      var tags: [RecordID: ChangeTag] = [:]
      var (assumptions, wrong) = (0, 0)
      for number in 1...60 {
        var random = SeededRandom(seed: UInt64(number))
        let request = request(tags, &random)
        let before = storage.roundTrips
        let reply = try answer(.modifyRecords(request), number, storage)
        let trips = storage.roundTrips - before
        #expect(try reply == answer(.modifyRecords(request), number, memory), "seed \(number)")
        guard case .success(.recordsModified(let saved, let deleted)) = reply else { continue }
        for record in saved.compactMap({ $0.value }) { tags[record.id] = record.changeTag }
        for result in deleted where result.error == nil { tags[result.id] = nil }
        if trips > 3 { wrong += 1 } else { assumptions += 1 }
      }
      #expect(assumptions > 10 && wrong > 10, "\(assumptions) requests went right, \(wrong) wrong")
      let changes = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil))
      let found = try answer(changes, 100, storage).get()
      guard case .zoneChanges(let page) = found,
        case .zoneChanges(let expected) = try answer(changes, 100, memory).get()
      else {
        Issue.record("there is no page")
        return
      }
      #expect(page.modified == expected.modified && !page.modified.isEmpty)
      try storage.close()
    }
  }
#endif
