import CloudProtocol
import Foundation
import Records
import Synchronization
import Testing
import VerificationSupport

@testable import CloudSync

/// Requests to a service like Apple's: one zone at a time, files at other URLs.
@Suite("Requests to a service like Apple's", .timeLimit(.minutes(20)))
struct ServiceRequestTests {
  typealias Server = ScriptedServer

  private static let zones = ["A", "B", "C"].map { ZoneID(name: $0) }

  private func transport(_ server: Server, isExact: Bool = false) -> WebServicesTransport {
    WebServicesTransport(
      WebServicesSession.Settings(
        url: URL(string: server.url), apiToken: "api", device: "phone", understandsExtras: isExact),
      webAuthToken: "token", signIn: nil, clock: LeapingClock())
  }

  private func call(_ request: CloudRequest, for user: UserID? = nil) -> CloudCall {
    CloudCall(
      container: "iCloud.requests", database: .private, expectedUser: user, requestID: "1",
      request: request)
  }

  private static func id(_ name: String, _ zone: Int = 0) -> RecordID {
    RecordID(name: name, zone: zones[zone])
  }

  private static func save(_ name: String, _ zone: Int = 0) -> RecordSave {
    RecordSave(id: id(name, zone), type: "T", changes: [])
  }

  /// The outcomes of a modification, or the error of the request as a whole.
  private func outcomes(
    _ transport: WebServicesTransport, _ request: ModifyRecords, for user: UserID? = nil
  ) async -> String {
    do throws(CloudError) {
      guard
        case .recordsModified(let saved, let deleted) = try await transport.send(
          call(.modifyRecords(request), for: user))
      else { return "another reply" }
      let words =
        saved.map { "+\($0.id.name) \($0.error.map { "\($0.code)" } ?? "ok")" }
        + deleted.map { "-\($0.id.name) \($0.error.map { "\($0.code)" } ?? "ok")" }
      return words.joined(separator: ", ")
    } catch { return "\(error.code)" }
  }

  private static func record(_ name: String, _ text: String = "") -> String {
    #"{"recordName":"\#(name)","recordType":"T","recordChangeTag":"1","#
      + #""fields":{"text":{"value":"\#(text)","type":"STRING"}}}"#
  }

  // MARK: Zones

  @Test("A failure of a later zone's request concerns its records only, one of the first all")
  func laterFailureConcernsItsRecords() async throws {
    let server = try Server { request in
      request.body.contains(#""zoneName":"A""#)
        ? .text(
          #"{"records":[\#(Self.record("a")),{"recordName":"d","deleted":true}]}"#)
        : .text("", 503)
    }
    let transport = transport(server)
    #expect(
      await outcomes(
        transport,
        ModifyRecords(
          save: [Self.save("a"), Self.save("b", 1)], delete: [Self.id("c", 1), Self.id("d")]))
        == "+a ok, +b serviceUnavailable, -c serviceUnavailable, -d ok")
    #expect(
      await outcomes(
        transport,
        ModifyRecords(save: [Self.save("b", 1), Self.save("a")], delete: [Self.id("d")]))
        == "serviceUnavailable")
    #expect(server.log.received.count == 3)
    #expect(await server.end())
  }

  /// The response to the second of three requests, and what becomes of the third.
  struct SecondPartCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var body: String
    var status = 200
    var retryAfter: String?
    var expected: String
    var requests: Int
  }

  /// Proves CE-178.
  @Test(
    "No part follows a failure that is retried or a wait; one follows any other failure",
    arguments: [
      SecondPartCase(
        testDescription: "a failure that is retried", body: "", status: 503,
        expected: "+a ok, +b serviceUnavailable, +c serviceUnavailable", requests: 2),
      SecondPartCase(
        testDescription: "a refusal", body: #"{"serverErrorCode":"ACCESS_DENIED"}"#, status: 403,
        expected: "+a ok, +b permissionFailure, +c ok", requests: 3),
      SecondPartCase(
        testDescription: "a refusal with a wait", body: #"{"serverErrorCode":"ACCESS_DENIED"}"#,
        status: 403, retryAfter: "30",
        expected: "+a ok, +b permissionFailure, +c requestRateLimited", requests: 2),
      SecondPartCase(
        testDescription: "a record with a wait",
        body: #"{"records":[{"recordName":"b","serverErrorCode":"ZONE_BUSY","retryAfter":5}]}"#,
        expected: "+a ok, +b zoneBusy, +c zoneBusy", requests: 2),
      SecondPartCase(
        testDescription: "a conflict with a wait",
        body: #"{"records":[{"recordName":"b","serverErrorCode":"CONFLICT","retryAfter":5}]}"#,
        expected: "+a ok, +b serverRecordChanged, +c requestRateLimited", requests: 2),
    ])
  func partsEndWithFailureOrWait(_ row: SecondPartCase) async throws {
    let server = try Server { request in
      if request.body.contains(#""zoneName":"B""#) {
        return .text(row.body, row.status, row.retryAfter.map { ("retry-after", $0) })
      }
      let name = request.body.contains(#""zoneName":"A""#) ? "a" : "c"
      return .text(#"{"records":[\#(Self.record(name))]}"#)
    }
    let request = ModifyRecords(
      save: [Self.save("a"), Self.save("b", 1), Self.save("c", 2)], delete: [])
    #expect(await outcomes(transport(server), request) == row.expected)
    #expect(server.log.received.count == row.requests)
    #expect(await server.end())
  }

  /// Proves I13.
  @Test(
    "When another account signs in between the parts of a change, the later ones are not sent",
    arguments: [nil, UserID("alice")])
  func laterPartIsNotSentForAnotherAccount(user: UserID?) async throws {
    let (arrived, release) = (Signal(), Signal())
    let server = try Server { request in
      guard request.isFor("records/modify") else { return .text(#"{"userRecordName":"alice"}"#) }
      arrived.fire()
      await release.wait()
      return .text(#"{"records":[\#(Self.record("a"))]}"#)
    }
    let transport = transport(server)
    _ = try await transport.send(call(.fetchCurrentUser))
    let request = ModifyRecords(save: [Self.save("a"), Self.save("b", 1)], delete: [])
    let change = Task { await self.outcomes(transport, request, for: user) }
    await arrived.wait()
    transport.signIn(webAuthToken: "bob")
    release.fire()
    #expect(await change.value == "+a ok, +b notAuthenticated")
    #expect(server.log.count("records/modify") == 1)
    withExtendedLifetime(transport) {}
    #expect(await server.end())
  }

  /// Proves I13.
  @Test("A request for an account is sent only when the service has named that account")
  func requestFollowsNameOfAccount() async throws {
    let server = try Server { _ in .text(#"{"userRecordName":"alice"}"#) }
    let transport = transport(server)
    let request = ModifyRecords(save: [Self.save("a")], delete: [])
    let alice = UserID("alice")
    #expect(await outcomes(transport, request, for: alice) == "notAuthenticated")
    #expect(server.log.received.isEmpty)
    _ = try await transport.send(call(.fetchCurrentUser, for: alice))
    _ = await outcomes(transport, request, for: alice)
    #expect(server.log.count("records/modify") == 1)
    transport.signIn(webAuthToken: "bob")
    #expect(await outcomes(transport, request, for: alice) == "notAuthenticated")
    #expect(server.log.count("records/modify") == 1)
    #expect(await server.end())
  }

  @Test("A change whose task is cancelled is not sent")
  func cancelledChangeIsNotSent() async throws {
    let server = try Server { _ in .text("", 503) }
    let transport = transport(server)
    let request = ModifyRecords(save: [Self.save("a"), Self.save("b", 1)], delete: [])
    let change = Task {
      while !Task.isCancelled { await Task.yield() }
      return await self.outcomes(transport, request)
    }
    change.cancel()
    #expect(await change.value == "operationCancelled")
    #expect(server.log.received.isEmpty)
    #expect(await server.end())
  }

  @Test("A request holds at most 200 items")
  func requestHoldsAtMost200Items() async throws {
    let server = try Server { request in
      let names = (0..<200).map { "r\($0)" }
      return .text(#"{"records":[\#(names.map { Self.record($0) }.joined(separator: ","))]}"#)
    }
    let transport = transport(server)
    for count in [200, 201] {
      let names = (0..<count).map { "r\($0)" }
      let save = ModifyRecords(save: names.map { Self.save($0) }, delete: [])
      let outcome = await outcomes(transport, save)
      #expect(outcome.hasPrefix(count == 200 ? "+r0 ok, " : "limitExceeded"))
      let fetch = call(.fetchRecords(FetchRecords(ids: names.map { Self.id($0) })))
      let reply = try? await transport.send(fetch)
      if case .records(let results)? = reply {
        #expect(results.count == 200 && results.allSatisfy { $0.error == nil })
      } else {
        #expect(count == 201)
      }
    }
    #expect(server.log.received.count == 2)
    #expect(await server.end())
  }

  @Test("A fetch asks each zone for its own records, and gives them in the order asked")
  func fetchAsksEachZoneForItsRecords() async throws {
    let server = try Server { request in
      let name = request.body.contains(#""zoneName":"A""#) ? "a" : "b"
      let others = name == "a" ? ["a", "c"] : ["b"]
      return .text(#"{"records":[\#(others.map { Self.record($0) }.joined(separator: ","))]}"#)
    }
    let transport = transport(server)
    let ids = [Self.id("a"), Self.id("b", 1), Self.id("c")]
    guard
      case .records(let results) = try await transport.send(
        call(.fetchRecords(FetchRecords(ids: ids))))
    else {
      Issue.record("another reply")
      return
    }
    #expect(results.map(\.id) == ids && results.allSatisfy { $0.error == nil })
    let bodies = server.log.received.map(\.body)
    #expect(bodies.count == 2 && !bodies[0].contains(#""b""#) && !bodies[1].contains(#""a""#))
    #expect(await server.end())
  }

  /// The response to a save, and to the request for the record of a conflict.
  struct ConflictCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: String
    var status = 200
    var expected: CloudError.Code
    var text: String?
    var requests: Int
  }

  @Test(
    "A conflict brings the server's record, which is asked for; other errors need no request",
    arguments: [
      ConflictCase(
        testDescription: "a conflict", code: "CONFLICT", expected: .serverRecordChanged,
        text: "theirs", requests: 2),
      ConflictCase(
        testDescription: "a conflict with a record that can't be fetched", code: "CONFLICT",
        status: 503, expected: .serverRecordChanged, requests: 2),
      ConflictCase(
        testDescription: "another error", code: "QUOTA_EXCEEDED", expected: .quotaExceeded,
        requests: 1),
    ])
  func conflictBringsTheServersRecord(_ row: ConflictCase) async throws {
    let server = try Server { request in
      request.isFor("records/modify")
        ? .text(#"{"records":[{"recordName":"a","serverErrorCode":"\#(row.code)"}]}"#)
        : .text(#"{"records":[\#(Self.record("a", "theirs"))]}"#, row.status)
    }
    let request = ModifyRecords(save: [Self.save("a")], delete: [])
    guard
      case .recordsModified(let saved, _) = try await transport(server).send(
        call(.modifyRecords(request)))
    else {
      Issue.record("another reply")
      return
    }
    let error = saved.first?.error
    #expect(error?.code == row.expected)
    #expect(error?.serverRecord?.fields["text"]?.value == row.text.map { .string($0) })
    #expect(server.log.received.count == row.requests)
    #expect(await server.end())
  }

  // MARK: Files

  /// The responses to the request for a record and to that for its file.
  struct DownloadCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The record's item in the response.
    var item: String
    var status = 200
    var body = "content"
    /// The error; `nil` for the content.
    var expected: CloudError.Code?

    static func field(_ checksum: String) -> String {
      #"{"fileChecksum":"\#(checksum)","size":7,"downloadURL":"HOST/files/${f}?a"}"#
    }

    static func item(_ value: String) -> String {
      #"{"recordName":"r","recordType":"T","fields":{"file":{"value":\#(value)}}}"#
    }
  }

  static let downloads: [DownloadCase] = [
    DownloadCase(testDescription: "a file", item: DownloadCase.item(DownloadCase.field("sum"))),
    DownloadCase(
      testDescription: "a file in a list",
      item: DownloadCase.item("[\(DownloadCase.field("x")),\(DownloadCase.field("sum"))]")),
    DownloadCase(
      testDescription: "another file now", item: DownloadCase.item(DownloadCase.field("x")),
      expected: .assetNotAvailable),
    DownloadCase(
      testDescription: "no file", item: #"{"recordName":"r","fields":{}}"#,
      expected: .assetNotAvailable),
    DownloadCase(
      testDescription: "no record",
      item: #"{"recordName":"r","serverErrorCode":"NOT_FOUND"}"#, expected: .unknownItem),
    DownloadCase(
      testDescription: "a URL that is not valid any more",
      item: DownloadCase.item(DownloadCase.field("sum")), status: 404, body: "{}",
      expected: .serviceUnavailable),
    DownloadCase(
      testDescription: "a URL with an error of the service",
      item: DownloadCase.item(DownloadCase.field("sum")), status: 403,
      body: #"{"serverErrorCode":"ACCESS_DENIED"}"#, expected: .permissionFailure),
  ]

  @Test("A file is downloaded from the URL of the field that holds it now", arguments: downloads)
  func fileIsDownloadedFromItsField(_ row: DownloadCase) async throws {
    let server = try Server { request in
      guard request.isFor("records/lookup") else { return .text(row.body, row.status) }
      let host = "http://" + (request.fields["host"] ?? "")
      return .text(#"{"records":[\#(row.item.replacing("HOST", with: host))]}"#)
    }
    let download = DownloadAsset(record: Self.id("r"), key: "file", checksum: "sum")
    do {
      let reply = try await transport(server).send(call(.downloadAsset(download)))
      #expect(row.expected == nil)
      guard case .assetContent(let content) = reply else {
        Issue.record("another reply")
        return
      }
      #expect(try content.bytes() == Array("content".utf8))
    } catch {
      #expect(error.code == row.expected)
    }
    // The placeholder of the file's name is replaced.
    let files = server.log.received.filter { !$0.isFor("records/lookup") }
    #expect(files.allSatisfy { $0.path == "/files/file" && $0.query == "a" })
    #expect(await server.end())
  }

  /// The responses to the request for a URL and to the upload.
  struct UploadCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var target: String
    var receipt = #"{"singleFile":{"fileChecksum":"sum","size":3,"receipt":"r"}}"#
    var status = 200
    var expected: CloudError.Code?
  }

  @Test(
    "A file is uploaded to the URL that the service names, and its receipt is the asset",
    arguments: [
      UploadCase(testDescription: "an upload", target: #"{"tokens":[{"url":"HOST/up"}]}"#),
      UploadCase(testDescription: "no URL", target: #"{"tokens":[{}]}"#, expected: .internalError),
      UploadCase(
        testDescription: "no receipt", target: #"{"tokens":[{"url":"HOST/up"}]}"#, receipt: "{}",
        expected: .internalError),
      UploadCase(
        testDescription: "a refused upload", target: #"{"tokens":[{"url":"HOST/up"}]}"#,
        receipt: #"{"serverErrorCode":"QUOTA_EXCEEDED"}"#, status: 413, expected: .quotaExceeded),
    ])
  func fileIsUploadedToItsURL(_ row: UploadCase) async throws {
    let server = try Server { request in
      guard request.isFor("assets/upload") else { return .text(row.receipt, row.status) }
      let host = "http://" + (request.fields["host"] ?? "")
      return .text(row.target.replacing("HOST", with: host))
    }
    let upload = UploadAsset(recordType: "T", key: "file", content: [1, 2, 3])
    do {
      let reply = try await transport(server).send(call(.uploadAsset(upload)))
      #expect(row.expected == nil)
      guard case .assetUploaded(let asset) = reply else {
        Issue.record("another reply")
        return
      }
      #expect(asset.checksum == "sum" && asset.receipt != nil)
      #expect(server.log.received.last?.body == "\u{1}\u{2}\u{3}")
      let asked = server.log.received.first?.body
      #expect(asked == #"{"tokens":[{"recordType":"T","fieldName":"file"}]}"#)
    } catch {
      #expect(error.code == row.expected)
    }
    #expect(await server.end())
  }

  // MARK: Signing in by the control interface

  /// Proves CE-174.
  @Test("An account is signed in with the control token; a refusal signs no account out")
  func accountIsSignedInWithTheControlToken() async throws {
    let server = try Server { request in
      switch request.index {
      case 0: .text(#"{"webAuthToken":"web"}"#)
      case 1: .text(#"{"webAuthToken":"web"}"#, 401)
      case 2: .text("{}")
      default: .text("no JSON")
      }
    }
    let url = try #require(URL(string: server.url + "/"))
    let control = ControlConnection(url: url, token: "secret")
    #expect(try await control.signIn(as: "alice \"x\"") == "web")
    let request = try #require(server.log.received.first)
    #expect(request.path == "/cloudsync/1/sign-in")
    #expect(request.fields["authorization"] == "Bearer secret")
    #expect(request.fields["content-type"] == "application/json")
    #expect(request.body == #"{"account":"alice \"x\""}"#)
    for code in [CloudError.Code.accountTemporarilyUnavailable, .serviceUnavailable] {
      let error = await #expect(throws: CloudError.self) { try await control.signIn(as: "a") }
      #expect(error?.code == code)
    }
    await #expect(throws: CloudError.self) { try await control.signIn(as: "a") }
    #expect(await server.end())
    let error = await #expect(throws: CloudError.self) { try await control.signIn(as: "a") }
    #expect(error?.code == .networkFailure)
  }
}
