import Foundation
import Testing
import VerificationSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The memory of a server while it takes and gives many large files.
@Suite("Large uploads", .timeLimit(.minutes(20)))
struct LargeUploadTests {
  private static let count = 16
  /// All files together are larger than the memory that the server may use.
  private static let bytes = 8 << 20
  private static let mostMemory = 100 << 20

  private func json(_ answer: (status: Int, text: String)) throws -> [String: Any] {
    try #require(answer.status == 200, "\(answer.text)")
    let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
    return try #require(object as? [String: Any])
  }

  private func content(_ number: Int) -> Data {
    var data = Data(count: Self.bytes)
    for start in stride(from: 0, to: data.count, by: 4096) {
      data[start] = UInt8(number)
      data[start + 1] = UInt8(truncatingIfNeeded: start >> 12)
    }
    return data
  }

  /// Uploads a file, saves it in a record, and returns the URL of the stored file.
  private func upload(_ number: Int, _ cloud: ServedCloud) async throws -> URL {
    let asked = try await cloud.post(
      "assets/upload", Data(#"{"tokens":[{"recordType":"Photo","fieldName":"file"}]}"#.utf8))
    let tokens = try #require(try json(asked)["tokens"] as? [[String: Any]])
    let url = try #require((tokens.first?["url"] as? String).flatMap { URL(string: $0) })
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    let (data, _) = try await URLSession.shared.upload(for: request, from: content(number))
    let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let file = try #require(answer?["singleFile"], "\(String(decoding: data, as: UTF8.self))")
    let record: [String: Any] = [
      "recordType": "Photo", "recordName": "photo-\(number)", "fields": ["file": ["value": file]],
    ]
    let saved = try await cloud.post(
      "records/modify",
      try JSONSerialization.data(
        withJSONObject: ["operations": [["operationType": "create", "record": record]]]))
    let records = try #require(try json(saved)["records"] as? [[String: Any]])
    let fields = try #require(records.first?["fields"] as? [String: [String: Any]])
    let value = try #require(fields["file"]?["value"] as? [String: Any], "\(fields)")
    return try #require((value["downloadURL"] as? String).flatMap { URL(string: $0) })
  }

  @Test("Sixteen large uploads and downloads at once need less memory than one copy of the files")
  func largeFilesAreNotInMemory() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--data", tool.path("server.sqlite"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.count {
        group.addTask {
          let url = try await upload(number, cloud)
          let (data, _) = try await URLSession.shared.data(from: url)
          #expect(data == content(number), "\(number)")
        }
      }
      try await group.waitForAll()
    }
    #if os(Linux)
      let peak = try #require(ProcessFigures(of: cloud.tool.processID).peakMemory)
      #expect(peak < Self.mostMemory, "\(peak >> 20) MiB")
    #endif
    #expect(await cloud.stop() == 0)
  }
}
