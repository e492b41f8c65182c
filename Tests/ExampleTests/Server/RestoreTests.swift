import Foundation
import Testing

/// The ways to restore a copy of a server's file that Docs/Server.md describes.
@Suite("A copy of a server's file without the latest changes")
struct RestoreTests {
  private static let zone = #""zoneID":{"zoneName":"Notes"}"#
  private let tool: ServerTool

  init() throws { tool = try ServerTool() }

  private func save(_ names: String..., in cloud: ServedCloud, token: String) async throws {
    let operations = names.map {
      #"{"operationType":"create","record":{"recordName":"\#($0)","recordType":"Note"}}"#
    }
    let body = #"{\#(Self.zone),"operations":[\#(operations.joined(separator: ","))]}"#
    let answer = try await cloud.post("records/modify", Data(body.utf8), webAuthToken: token)
    #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
  }

  /// The changes of the zone since a token, as they are answered.
  private func changes(
    of cloud: ServedCloud, since token: String?, as account: String
  ) async throws -> String {
    let since = token.map { #","syncToken":"\#($0)""# } ?? ""
    let body = #"{"zones":[{\#(Self.zone)\#(since)}]}"#
    return try await cloud.post("changes/zone", Data(body.utf8), webAuthToken: account).text
  }

  @Test("An old copy as the file hides changes from devices, and an archive of it does not")
  func oldCopyIsRestoredThroughArchive() async throws {
    let (data, copy) = (tool.path("notes.sqlite"), tool.path("copy.sqlite"))
    let first = try await tool.serve("--data", data)
    let account = try #require(first.webAuthTokens["default"])
    let zone = #"{"operations":[{"operationType":"create","zone":{\#(Self.zone)}}]}"#
    #expect(try await first.post("zones/modify", Data(zone.utf8)).status == 200)
    try await save("kept", in: first, token: account)
    #expect(await first.stop() == 0)
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    let second = try await tool.serve("--data", data)
    try await save("lost-1", "lost-2", in: second, token: account)
    let seen = try await changes(of: second, since: nil, as: account)
    #expect(await second.stop() == 0)
    #expect(seen.contains("kept") && seen.contains("lost-2"), "\(seen)")
    let token = String(try #require(seen.firstMatch(of: /"syncToken":"([^"]+)"/)?.output.1))

    // As the page says: export the copy, and import it with a new identity.
    let (archive, restored) = (tool.path("copy.jsonl"), tool.path("restored.sqlite"))
    try await tool.good("export", "--with-secret", "--data", copy, "--output", archive)
    try await tool.good("import", archive, "--new-identity", "--data", restored)
    for (path, isSafe) in [(copy, false), (restored, true)] {
      let cloud = try await tool.serve("--data", path)
      #expect(cloud.apiToken == first.apiToken)
      try await save("new-1", "new-2", "new-3", in: cloud, token: account)
      let missed = try await changes(of: cloud, since: token, as: account)
      #expect(missed.contains("serverErrorCode") == isSafe, "\(missed)")
      #expect(!missed.contains("new-1"), "\(missed)")
      let all = try await changes(of: cloud, since: nil, as: account)
      for name in ["kept", "new-1", "new-2", "new-3"] { #expect(all.contains(name), "\(all)") }
      #expect(await cloud.stop() == 0)
    }
  }
}
