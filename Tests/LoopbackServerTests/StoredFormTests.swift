import CloudMachine
import CloudProtocol
import Foundation
import Records
import Testing
import WebServices

@testable import LoopbackServer

/// Numbers, times and replies in the forms in which files and archives hold them.
@Suite("What is stored, at its bounds")
struct StoredFormTests {
  @Test("Each day of a thousand years has the date after that of the day before it")
  func daysFollowEachOther() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var (year, month, day) = (1600, 1, 1)
    // 1600 begins so many days before 1970, and 2001 11,323 days after that.
    for number in -135_140..<230_000 {
      let seconds = Double(number - 11_323) * 86_400 + 3_661.5
      let civil = CivilTime(Timestamp(secondsSinceReferenceDate: seconds))
      guard let civil, civil.year == year, civil.month == month, civil.day == day,
        civil.dayNumber == number, civil.milliseconds == 3_661_500
      else {
        Issue.record("\(year)-\(month)-\(day): \(String(describing: civil))")
        return
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      day += 1
      if day > lengths[month - 1] + (isLeap && month == 2 ? 1 : 0) { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test("Times of a day are in whole seconds, and years have at most four digits")
  func civilTimesHaveBounds() throws {
    for (seconds, clock, milliseconds) in [
      (0, "00:00:00", 0), (3_661.5, "01:01:01", 3_661_500), (59.9996, "00:00:59", 59_999),
      (86_399.9996, "23:59:59", 86_399_999), (-0.25, "23:59:59", 86_399_750),
      (252_423_993_599, "23:59:59", 86_399_000), (36_000, "10:00:00", 36_000_000),
    ] as [(Double, String, Int)] {
      let civil = try #require(CivilTime(Timestamp(secondsSinceReferenceDate: seconds)))
      #expect(civil.clock == clock && civil.milliseconds == milliseconds, "\(seconds)")
    }
    for (seconds, year) in [
      (-63_000_000_000, nil), ((-63_000_000_000.0).nextUp, 4), (252_423_993_600, nil),
      (252_423_993_599, 9_999), (.nan, nil), (-.infinity, nil),
    ] as [(Double, Int?)] {
      let time = Timestamp(secondsSinceReferenceDate: seconds)
      #expect(CivilTime(time)?.year == year, "\(seconds)")
    }
    #expect(CivilTime.padded(5, 3) == "005" && CivilTime.padded(1234, 3) == "1234")
    for (seconds, isWritten) in [(252_000_000_000.0, false), (251_999_999_999, true)] {
      let json = JSON.time(Timestamp(secondsSinceReferenceDate: seconds))
      #expect((json["utc"] != nil) == isWritten)
    }
  }

  @Test("Numbers of an archive are from zero to 2 to the power of 62")
  func numbersOfArchiveAreBounded() throws {
    let largest: Int64 = 1 << 62
    for (number, isRead) in [(0, true), (largest, true), (largest + 1, false), (-1, false)] {
      let json = try JSON(parsing: Array(#"{"n":\#(number)}"#.utf8))
      let reads: [(inout ArchiveObject) throws -> Int64?] = [
        { try Int64($0.sequence("n")) }, { try $0.optionalSequence("n").map { Int64($0) } },
        { try Int64($0.count("n")) }, { try Int64($0.optionalCount("n")) },
      ]
      for read in reads {
        let found = try? ArchiveObject.read(json, "x", read)
        #expect(found == (isRead ? number : nil), "\(number)")
      }
    }
    let empty = JSON.members([:])
    try ArchiveObject.read(empty, "x") { object in
      let (sequence, count) = (try object.optionalSequence("n"), try object.optionalCount("n"))
      let (flag, texts) = (try object.flag("n"), try object.texts("n"))
      #expect(sequence == nil && count == 0 && !flag && texts == [])
      #expect(throws: ArchiveError.self) { try object.count("n") }
      #expect(throws: ArchiveError.self) { try object.sequence("n") }
    }
    #expect(throws: ArchiveError.self) {
      try ArchiveObject.read(.members(["n": .null]), "x") { try $0.flag("n") }
    }
  }

  @Test("Lists of an archive nest four deep, and members are read once")
  func listsOfArchiveNest() throws {
    let one = #""int64":1"#
    func nested(_ depth: Int) throws -> JSON {
      let text = (0..<depth).reduce("{\(one)}") { inner, _ in #"{"list":[\#(inner)]}"# }
      return try JSON(parsing: Array(text.utf8))
    }
    for (depth, isRead) in [(0, true), (1, true), (4, true), (5, false)] {
      let json = try nested(depth)
      let value = try? ArchiveObject.read(json, "x") { try $0.value() }
      #expect((value != nil) == isRead, "\(depth)")
    }
    let member = JSON.Members.Element(name: "flag", value: .bool(true))
    let twice = JSON.object(JSON.Members([member, member]))
    #expect(throws: ArchiveError.self) {
      try ArchiveObject.read(twice, "x") { try $0.flag("flag") }
    }
  }

  @Test("Times are sorted in files as they follow each other")
  func storedTimesAreSorted() {
    let times = [
      -.infinity, -1e9, -1, -Double.leastNonzeroMagnitude, -0.0, 0.0, .leastNonzeroMagnitude, 1,
      1e9, .infinity,
    ].map { sortable(Timestamp(secondsSinceReferenceDate: $0)) }
    #expect(times == times.sorted() && Set(times).count == times.count)
    #expect(stored(5) == 5 && stored(.max) == .max)
    #expect(throws: ByteFormatError.self) { try counted(-1) }
    #expect((try? counted(.max)) == UInt64(Int64.max))
  }

  @Test("Every 64th receipt of a user removes the oldest ones")
  func receiptsTakeTurns() {
    func receipt(_ user: String) -> Receipt {
      Receipt(
        key: ReceiptKey(user: UserID(user), device: "d", requestID: "r"), reply: .zones([]))
    }
    var turns = ReceiptTurns()
    var found: [Int] = []
    for number in 0..<130 where turns.take(receipt("a"), keeping: 2) != nil { found.append(number) }
    #expect(found == [0, 64, 128])
    #expect(turns.take(receipt("b"), keeping: 2) == 32)
    #expect(turns.take(receipt("b"), keeping: 2) == nil)
    #expect(turns.take(receipt("c"), keeping: .max) == nil)
    #expect(turns.take(receipt("c"), keeping: 1) == 16, "it was not counted before")
    for number in 0..<10_000 { _ = turns.take(receipt("user \(number)"), keeping: 1) }
    #expect(turns.take(receipt("a"), keeping: 2) == 32, "users of long ago are forgotten")
  }

  @Test("Numbers that share a hash are kept once each, the latest first")
  func numbersThatShareHash() {
    let hash = RecordNumbers.Hash(zone: 1, name: "a")
    var numbers = RecordNumbers()
    #expect(numbers.candidates(hash) == [] && numbers.count == 0 && numbers.last == 0)
    for (number, found) in [(1, [1]), (1, [1]), (5, [5, 1]), (3, [3, 5, 1])] as [(Int64, [Int64])] {
      numbers.add(number, hash)
      #expect(numbers.candidates(hash) == found)
    }
    #expect(numbers.last == 5 && numbers.count == 2 && numbers.goneCount == 0)
    numbers.noteGone(2)
    numbers.noteGone(3)
    #expect(numbers.goneCount == 5)
  }

  @Test("The answers about shares and people survive their binary form, too")
  func repliesAboutPeopleSurvive() throws {
    let error = CloudError(.unknownItem, "no")
    let zone = ZoneID(name: "z", owner: "_o")
    let root = RecordID(name: "r", zone: zone)
    let owner = UserIdentity(user: UserID("_o"), givenName: "O", familyName: "P")
    var share = Record(id: RecordID(name: "s", zone: zone), type: ShareDetails.recordType)
    share.sharing = ShareDetails(root: root, url: "u", participants: [])
    let metadata = ShareMetadata(
      container: "c", share: share, rootID: root, root: Record(id: root, type: "T"), owner: owner,
      role: .administrator, acceptance: .accepted, permission: .readOnly)
    let lookups: [UserLookup] = [.email("e"), .phone("p"), .user(UserID("_o"))]
    let replies: [CloudReply] = [
      .sharesResolved([.init(id: "u", .success(metadata)), .init(id: "v", .failure(error))]),
      .sharesAccepted([.init(id: "v", .failure(error)), .init(id: "u", .success(share))]),
      .usersFound(
        lookups.map { .init(id: $0, .success(owner)) }
          + lookups.map { .init(id: $0, .failure(error)) }),
    ]
    for reply in replies {
      var writer = ByteWriter()
      writer.write(reply)
      var reader = ByteReader(writer.bytes)
      #expect(try reader.reply() == reply)
      #expect(reader.isAtEnd)
    }
    var unknown = ByteReader([UInt8(15)])
    #expect(throws: ByteFormatError.self) { try unknown.reply() }
  }
}
