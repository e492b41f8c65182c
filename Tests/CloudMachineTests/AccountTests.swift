import CloudMachine
import CloudProtocol
import Records
import Testing

/// Who may ask what, and that nobody sees anything of anybody else.
///
/// Invariant I13.
struct AccountTests {
  private static let everything: [CloudRequest] = [
    .fetchCurrentUser, .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)),
    .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil)), .fetchZones(nil),
    .modifyZones(ModifyZones(save: [World.zone])), .fetchRecords(FetchRecords(ids: [id("a")])),
    .modifyRecords(ModifyRecords(save: [fresh("a")])), .fetchSubscriptions(nil),
    .modifySubscriptions(ModifySubscriptions()),
  ]

  /// Proves CS-52, SC-10, SC-11.
  @Test(
    "Without a usable account every private call fails with the error of its state")
  func privateCallsFailWithoutUsableAccount() throws {
    let world = try World()
    let callers: [(Caller, String)] = [
      (world.guest, "! notAuthenticated"),
      (Caller(user: UserID("_unknown"), device: "d"), "! notAuthenticated"),
      (
        Caller(user: world.alice, device: "d", availability: .temporarilyUnavailable),
        "! accountTemporarilyUnavailable"
      ),
      (
        Caller(user: world.alice, device: "d", availability: .restricted),
        "! notAuthenticated"
      ),
      (
        Caller(user: world.alice, device: "d", availability: .couldNotDetermine),
        "! notAuthenticated"
      ),
    ]
    for (caller, words) in callers {
      for scope in [DatabaseScope.private, .shared] {
        for request in AccountTests.everything {
          #expect(try world.say(request, as: caller, in: scope) == words, "\(caller) \(request)")
        }
      }
      // Reading what is public needs no account; writing does.
      let read = CloudRequest.fetchRecords(FetchRecords(ids: [id("a", .default)]))
      #expect(try world.say(read, as: caller, in: .public) == "a unknownItem")
      #expect(try world.modify([fresh("a", zone: .default)], as: caller, in: .public) == words)
    }
    #expect(try world.names().isEmpty)
    #expect(try world.say(.fetchCurrentUser) == "user \(world.alice.rawValue)")
  }

  /// Proves I13.
  @Test("A call meant for another account is refused and reveals nothing about any account")
  func callForOtherAccountRevealsNothing() throws {
    let world = try World()
    _ = try world.modify([fresh("secret")])
    for request in AccountTests.everything {
      for scope in DatabaseScope.allCases {
        for (caller, expected) in [
          (world.stranger, world.alice), (world.phone, world.bob), (world.guest, world.alice),
        ] {
          let answer = try world.ask(request, as: caller, in: scope, expecting: expected)
          #expect(answer.result.words == "! notAuthenticated")
          #expect(answer.pushes.isEmpty)
          guard case .failure(let error) = answer.result else { continue }
          #expect(error.serverRecord == nil && !error.message.contains(world.alice.rawValue))
          #expect(!error.message.contains("secret") && !error.message.contains(world.bob.rawValue))
        }
      }
    }
    let rightly = try world.ask(.fetchZones(nil), expecting: world.alice)
    #expect(rightly.result.words == "_defaultZone ok, Z ok")
  }

  /// Proves I13, S1.
  @Test("Accounts, containers and environments share no data")
  func accountsContainersEnvironmentsAreIsolated() throws {
    let world = try World()
    _ = try world.modify([fresh("secret")])
    let read = CloudRequest.fetchRecords(FetchRecords(ids: [id("secret")]))
    #expect(try world.say(read) == "secret ok")
    #expect(try world.say(read, as: world.stranger) == "secret unknownItem")
    #expect(try world.modify(delete: [id("secret")], as: world.stranger) == "-secret ok")
    let elsewhere: [(String, CloudEnvironment)] = [
      ("iCloud.other", .development), (World.container, .production),
    ]
    for (container, environment) in elsewhere {
      let answer = try world.ask(read, container: container, environment: environment)
      #expect(answer.result.words == "secret zoneNotFound")
    }
    let theirs = RecordID(
      name: "secret", zone: ZoneID(name: "Z", owner: world.alice.rawValue))
    let asBob = CloudRequest.fetchRecords(FetchRecords(ids: [theirs]))
    #expect(try world.say(asBob, as: world.stranger) == "secret invalidArguments")
    #expect(
      try world.say(.modifyZones(ModifyZones(save: [theirs.zone])), as: world.stranger)
        == "+Z invalidArguments")
    #expect(try world.names() == ["secret"])
    for container in ["", "a b", "é", String(repeating: "c", count: 256)] {
      let answer = try world.ask(.fetchCurrentUser, container: container)
      #expect(answer.result.words == "! badContainer")
    }
  }

  @Test("The user's own name and the default owner name the same zone, stored as the default")
  func ownUserNameEqualsDefaultOwner() throws {
    let world = try World()
    let own = ZoneID(name: "Z", owner: world.alice.rawValue)
    var save = fresh("a", parent: "p", zone: own)
    save.changes = [
      .init(
        key: "r",
        field: Field(
          .list([.reference(Reference(target: id("p", own), action: .deleteSelf))])))
    ]
    let answer = try world.ask(
      .modifyRecords(ModifyRecords(save: [save, fresh("p", zone: World.zone)])))
    guard case .recordsModified(let saved, _) = try answer.reply() else { throw Unexpected() }
    #expect(saved.map(\.id) == [id("a", own), id("p")])
    let stored = try #require(try world.stored("a"))
    #expect(saved.first?.value?.id == id("a", own))
    #expect(saved.first?.value?.parent == id("p", own))
    #expect(
      saved.first?.value?.fields["r"]?.value
        == .list([.reference(Reference(target: id("p", own), action: .deleteSelf))]))
    #expect(stored.id == id("a") && stored.parent == id("p"))
    #expect(
      stored.fields["r"]?.value
        == .list([.reference(Reference(target: id("p"), action: .deleteSelf))]))
    #expect(try world.page(zone: own).zone == own)
    #expect(try world.say(.fetchZones([own])) == "Z ok")
    #expect(try world.say(.modifyZones(ModifyZones(delete: [own]))) == "-Z ok")
  }

  @Test("An account's user name derives from its name; creating it again changes nothing")
  func accountUserNameDerivesFromAccountName() throws {
    let machine = CloudMachine()
    let storage = MemoryStorage()
    let alice = try machine.createAccount("alice", quota: 5, in: storage)
    #expect(try machine.createAccount("alice", in: storage) == alice)
    #expect(try machine.createAccount("alice", in: MemoryStorage()).user == alice.user)
    var users = Set([alice.user])
    for name in ["bob", "Alice", "alice ", "álice"] + (0..<200).map({ "user \($0)" }) {
      let user = try machine.createAccount(name, in: storage).user
      #expect(users.insert(user).inserted, "\(name)")
      let digits = user.rawValue.dropFirst()
      #expect(user.rawValue.first == "_" && digits.count == 32)
      #expect(digits.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
    #expect(try storage.accounts().count == users.count)
    for name in ["", "a\nb", String(repeating: "n", count: 256)] {
      #expect(throws: CloudError.self) { try machine.createAccount(name, in: storage) }
    }
  }
}
