import CloudProtocol
import Records
import Testing

@testable import LoopbackServer

@Suite("A server on a file")
struct FileServerTests {
  private func server(_ folder: TemporaryFolder) throws -> LoopbackServer {
    try LoopbackServer(path: folder.path("cloud.db"), clock: tickingClock())
  }

  /// Proves I2, I18, S3, WS-96.
  @Test("Acknowledged writes are present after the file is opened again")
  func acknowledgedWritesSurviveReopening() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var server = try server(folder)
    var phone = Visitor(LoopbackService(server), "phone", "alice")
    _ = await phone.make(notes)
    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = await phone.tell(.modifySubscriptions(ModifySubscriptions(save: [subscription])))
    var child = note("child")
    child.parent = noteID("n1")
    let batch = (1...399).map { note("n\($0)") } + [child]
    let request = CloudRequest.modifyRecords(ModifyRecords(save: batch.map { RecordSave($0) }))
    let first = await phone.ask(request, id: "batch")
    _ = await phone.save([], delete: [noteID("n2")])
    try server.controls.setQuota(1_000_000, of: "alice")
    let token = await phone.changes(of: notes).token
    let records = try server.records(in: notes, container: containerID, account: "alice")
    let log = try server.changeLog(of: notes, container: containerID, account: "alice")
    let accounts = try server.accounts()
    server.close()
    #expect(folder.names == ["cloud.db"], "a clean close leaves one file")

    server = try self.server(folder)
    phone = Visitor(LoopbackService(server), "phone", "alice")
    #expect(records.count == 399)
    #expect(try server.records(in: notes, container: containerID, account: "alice") == records)
    #expect(try server.changeLog(of: notes, container: containerID, account: "alice") == log)
    #expect(log.last?.isDeletion == true)
    #expect(try server.accounts() == accounts)
    #expect(try server.subscriptions(container: containerID, account: "alice") == [subscription])
    #expect(await phone.changes(of: notes, since: token).text == "", "tokens stay valid")
    #expect(await phone.ask(request, id: "batch") == first, "answers are remembered")
    let answer = await phone.save([], delete: [noteID("n1")])
    #expect(answer == "-n1!referenceViolation", "links are remembered")
    server.close()
  }

  /// Proves I18, SC-163.
  @Test(
    "Two servers on the same data see and push each other's changes and lose none",
    arguments: SharedData.allCases)
  func serversOnSameDataShareChanges(_ kind: SharedData) async throws {
    let data = try kind.make()
    let first = try data.open()
    let second = try data.open()
    let services = [LoopbackService(first), LoopbackService(second)]
    let phone = Visitor(services[0], "phone", "alice")
    let tablet = Visitor(services[1], "tablet", "alice")
    #expect(await phone.make(notes) == "+Notes")
    #expect(await tablet.save([note("seen")]) == "+seen")
    #expect(await phone.read(noteID("seen")) != nil)

    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = await tablet.tell(.modifySubscriptions(ModifySubscriptions(save: [subscription])))
    if !kind.looksAtRequests { _ = try second.checkForForeignChanges() }
    _ = (services[0].takePushes(), services[1].takePushes())
    #expect(try !second.checkForForeignChanges(), "its own changes are no news")
    #expect(await phone.save([note("pushed")]) == "+pushed")
    #expect(services[1].takePushes() == [], "nothing comes before it looks")
    #expect(try second.checkForForeignChanges())
    #expect(services[1].takePushes() == ["phone all -", "tablet all -"])
    #expect(try !second.checkForForeignChanges())
    #expect(await phone.save([note("again")]) == "+again")
    #expect(await tablet.read(noteID("again")) != nil)
    if !kind.looksAtRequests { #expect(try second.checkForForeignChanges()) }
    #expect(services[1].takePushes() == ["phone all -", "tablet all -"])

    // What it wrote itself is no news either when somebody else wrote something too.
    #expect(await tablet.save([note("own")]) == "+own")
    _ = services[1].takePushes()
    #expect(await Visitor(services[0], "other", "bob").make(notes) == "+Notes")
    #expect(try !second.checkForForeignChanges())
    #expect(services[1].takePushes() == [])

    // Both write at once, from many tasks.
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        let service = services[writer % 2]
        group.addTask {
          let visitor = Visitor(service, "writer\(writer)", "alice")
          for number in 0..<10 { _ = await visitor.save([note("w\(writer)-\(number)")]) }
        }
      }
    }
    let here = try first.records(in: notes, container: containerID, account: "alice")
    let there = try second.records(in: notes, container: containerID, account: "alice")
    #expect(here == there)
    #expect(here.count == 84)
    #expect(Set(here.map(\.changeTag)).count == 84, "no tag is given twice")
    let log = try first.changeLog(of: notes, container: containerID, account: "alice")
    #expect(log.count == 84)
    first.close()
    second.close()
    let again = try data.open()
    #expect(try again.records(in: notes, container: containerID, account: "alice") == here)
    again.close()
    #expect(data.leftOver() == [])
  }
}
