import Foundation
import SyncSupport
import SyncedStore
import Testing

@Suite("Documents of the first versions")
struct DocumentFileTests {
  /// The document that is on the disk, and how it is read.
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var format = "words"
    var version = 2
    /// The text that stands in the document in place of the word that its checksum is of.
    var text = "one"
    /// The step of the error; `nil` if the document is read.
    var step: FileError.Step?
    /// Whether recovery copies the document and goes on without it.
    var isRecoverable = false
  }

  @Test(
    "A document of another format or damaged is set aside only, and one of a newer version never",
    arguments: [
      Case(testDescription: "the same version"),
      Case(testDescription: "an older version", version: 1),
      Case(testDescription: "a newer version", version: 3, step: .use),
      Case(
        testDescription: "another format", format: "tabs", step: .understand, isRecoverable: true),
      Case(testDescription: "damaged", text: "two", step: .understand, isRecoverable: true),
    ])
  func documentIsReadOrRefused(_ row: Case) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appendingPathComponent("document")
    try DocumentFile<[String]>(url, format: row.format, version: row.version).write(["one"])
    let text = try String(contentsOf: url, encoding: .utf8)
    let bytes = Data(text.replacing("\"one\"", with: "\"\(row.text)\"").utf8)
    try bytes.write(to: url)
    let document = DocumentFile<[String]>(url, format: "words", version: 2)
    if row.step == nil {
      #expect(try document.read() == ["one"])
      #expect(try document.read(recovering: true).recovery == nil)
    } else {
      let error = #expect(throws: FileError.self) { try document.read() }
      #expect(error?.step == row.step)
      let reading = try? document.read(recovering: true)
      #expect((reading?.recovery != nil) == row.isRecoverable && reading?.body == nil)
    }
    #expect(try Data(contentsOf: url) == bytes, "it stays as it is")
    #expect(document.file.copies.count == (row.isRecoverable ? 1 : 0))
  }
}
