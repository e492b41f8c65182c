import Foundation
import LoopbackServer
import Testing

@testable import IdeaStore

@Suite("Ideas from CSV files", .timeLimit(.minutes(20)))
struct IdeaImportTests {
  let server = LoopbackServer()

  static func sample(_ name: String) throws -> Data {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try Data(
      contentsOf: root.appendingPathComponent("Examples/IdeaStore/Samples/\(name)"))
  }

  @Test("I: The sample files are imported whole, also in Chinese and with a byte order mark")
  func sampleFilesImportCompletely() throws {
    let phone = try IdeaDevice(server, "phone")
    let report = try phone.store.importIdeas(fromCSV: Self.sample("ideas.csv"))
    #expect(report.added.count == 8 && report.problems.isEmpty)
    #expect(report.added[1].description == "Who has the drill?\nWho has the tent?")
    #expect(report.added[1].isCompleted)
    #expect(report.added[1].createdAt == Date(timeIntervalSince1970: 1_767_985_331.25))
    #expect(report.added[2].title == "The \"no meeting\" hour")
    #expect(report.added[2].createdAt == Date(timeIntervalSince1970: 1_768_208_400))
    #expect(report.added[4].description.isEmpty)
    let again = try phone.store.importIdeas(fromCSV: Self.sample("ideas.csv"))
    #expect(again.added.isEmpty && again.duplicates == 8)
    let chinese = try phone.store.importIdeas(fromCSV: Self.sample("ideas-zh.csv"))
    #expect(chinese.added.count == 7 && chinese.problems.isEmpty)
    #expect(chinese.ignoredColumns.isEmpty)
    #expect(chinese.added[0].title == "陽台雨量計")
    #expect(chinese.added[1].isCompleted && chinese.added[1].description.contains("\r\n"))
    #expect(chinese.added[2].description == "行事曆上寫著 \"不行\"，十點到十一點")
    #expect(phone.store.ideas.count == 15 && phone.store.status.pending == 15)
  }

  @Test("I: Bad rows are reported by line and skipped, and no row is imported in part")
  func badRowsAreReportedAndSkipped() throws {
    let phone = try IdeaDevice(server, "phone")
    let long = String(repeating: "x", count: 257)
    var csv = Data("\u{FEFF}Title , description,done,colour,id\r\n".utf8)
    csv += Data("good,\"two\nlines\",1,red,\r\n".utf8)  // lines 2 and 3
    csv += Data(",no title,0,,\r\n".utf8)  // 4
    csv += Data("too few,fields\r\n".utf8)  // 5
    csv += Data("too,many,0,,,fields\r\n".utf8)  // 6
    csv += Data("\r\n".utf8)  // 7, blank
    csv += Data("\(long),,,,\r\n".utf8)  // 8
    csv += Data("t,d,perhaps,,\r\n".utf8)  // 9
    csv += Data("t,d,0,,not-a-uuid\r\n".utf8)  // 10
    csv += Data("a \"quote\" inside,,,,\r\n".utf8)  // 11
    csv += Data("\"closed\" too early,,,,\r\n".utf8)  // 12
    csv += Data([0x74, 0xFF, 0xFE] + ",,,,\r\n".utf8)  // 13
    csv += Data("好,,是,,\r\n".utf8)  // 14
    csv += Data("twice,,,,\(UUID.numbered(9).uuidString)\r\n".utf8)  // 15
    csv += Data("twice,,,,\(UUID.numbered(9).uuidString)\r\n".utf8)  // 16
    csv += Data("open,\"never ends,,,\r\nlost,,,,\r\n".utf8)  // 17
    let report = try phone.store.importIdeas(fromCSV: csv)
    #expect(report.added.map(\.title) == ["good", "好", "twice"])
    #expect(report.added[0].description == "two\nlines" && report.added[0].isCompleted)
    #expect(report.duplicates == 1 && report.ignoredColumns == ["colour"])
    #expect(report.problems.map(\.line) == [4, 5, 6, 8, 9, 10, 11, 12, 13, 17])
    let reasons = report.problems.map(\.reason)
    let words = [
      "title is empty", "2 fields", "6 fields", "257", "neither 0 nor 1", "no UUID", "quote",
      "closing quote", "UTF-8", "never ends",
    ]
    for (reason, word) in zip(reasons, words) { #expect(reason.contains(word), "\(reason)") }
    #expect(!reasons.contains { $0.contains(long) })
    #expect(Set(phone.store.ideas.map(\.title)) == ["good", "好", "twice"])
  }

  @Test("I: An idea whose date of creation is not in the file is as old as its last change")
  func missingCreationDate() throws {
    let phone = try IdeaDevice(server, "phone")
    let csv = Data("title,isCompleted,updatedAt\r\nold,0,2020-01-04T08:15:00Z\r\nnew,0,\r\n".utf8)
    let report = try phone.store.importIdeas(fromCSV: csv)
    #expect(report.problems.isEmpty && report.added.map(\.title) == ["old", "new"])
    #expect(report.added[0].createdAt == Date(timeIntervalSince1970: 1_578_125_700))
    #expect(report.added.allSatisfy { $0.createdAt == $0.updatedAt })
  }

  @Test("I: A file that is not a valid CSV file is refused as a whole")
  func invalidFileIsRefusedWhole() throws {
    let phone = try IdeaDevice(server, "phone")
    let table: [(Data, IdeaImportError)] = [
      (Data(), .isEmpty), (Data("\u{FEFF}\r\n\n".utf8), .isEmpty),
      (Data("name,description\na,b\n".utf8), .hasNoTitleColumn),
      (Data("title,標題\na,b\n".utf8), .columnIsDoubled(name: "title")),
      (Data([0xFF, 0xFE, 0x74, 0x00]), .isNotUTF8),
      (
        Data("title,\"x\na,b".utf8),
        .headerIsBroken(reason: "a quote never ends; everything from here on was skipped")
      ),
    ]
    for (data, error) in table {
      #expect(throws: error) { try phone.store.importIdeas(fromCSV: data) }
    }
    #expect(phone.store.ideas.isEmpty && phone.folder.names() == [])
  }

  @Test("I: An import is one write: after a crash all of it is present, or none")
  func importIsOneAtomicWrite() throws {
    let phone = try IdeaDevice(server, "phone")
    try phone.store.create(title: "before")
    let url = phone.folder.url.appendingPathComponent("ideas.journal")
    let before = try Data(contentsOf: url).count
    try phone.store.importIdeas(fromCSV: Self.sample("ideas.csv"))
    let whole = try Data(contentsOf: url)
    for length in stride(from: before, to: whole.count, by: 211) {
      try whole.prefix(length).write(to: url)
      #expect(try IdeaDevice(server, "torn", folder: phone.folder).titles == ["before"])
    }
  }

  @Test("I: Quotes, commas and line ends inside fields are parsed as RFC 4180 defines them")
  func quotedFieldsAreParsed() {
    let table: [(String, [[String]])] = [
      ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
      ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
      ("a\rb\r", [["a"], ["b"]]),
      ("\"\",x\n,", [["", "x"], ["", ""]]),
      ("\"a\"\"b\",\"c,d\",\"e\r\nf\"\n", [["a\"b", "c,d", "e\r\nf"]]),
      ("\"\"\"\"", [["\""]]),
      (" a , b ", [[" a ", " b "]]),
      ("a,\n", [["a", ""]]),
    ]
    for (text, wanted) in table {
      #expect(Array(CSVRows(Data(text.utf8))).map(\.fields) == wanted, "\(text.debugDescription)")
    }
  }
}
