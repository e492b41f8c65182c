import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import LeaderboardStore

@Suite("Leaderboards, codes and rules")
struct LeaderboardRuleTests {
  @Test("L: A friend code has eight characters, made by the given generator")
  func friendCodeHasEightCharacters() throws {
    var numbers = SeededNumbers(1)
    var seen: Set<String> = []
    for _ in 0..<500 {
      let code = FriendCode(random: { numbers.next() })
      seen.insert(code.text)
      #expect(code.description.wholeMatch(of: /[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}/) != nil)
      let typed = " \(code.description.lowercased().replacing("-", with: " - ")) "
      #expect(try FriendCode(typed) == code)
    }
    #expect(seen.count == 500)
    var again = SeededNumbers(1)
    #expect(seen.contains(FriendCode(random: { again.next() }).text))
  }

  @Test("L: Every wrong character and every swap of two characters in a code is detected")
  func singleTypingErrorsAreDetected() throws {
    var numbers = SeededNumbers(2)
    let alphabet = Array("23456789ABCDEFGHJKMNPQRSTUVWXYZ")
    var missed: [String] = []
    for _ in 0..<20 {
      let code = Array(FriendCode(random: { numbers.next() }).text)
      for place in code.indices {
        for letter in alphabet where letter != code[place] {
          var typed = code
          typed[place] = letter
          if (try? FriendCode(String(typed))) != nil { missed.append(String(typed)) }
        }
        for other in code.indices where other > place && code[other] != code[place] {
          var typed = code
          typed.swapAt(place, other)
          if (try? FriendCode(String(typed))) != nil { missed.append(String(typed)) }
        }
      }
    }
    #expect(missed.isEmpty)
  }

  @Test(
    "L: A typing error in a code is refused with a clear message",
    arguments: [
      (
        "ABCD-EF0H",
        "a friend code never holds “0”: it is made of A to Z and 2 to 9, "
          + "without O, I and L"
      ),
      ("ABCD-EF", "a friend code has 8 characters, such as 7KQM-2XPD; this one has 6"),
      (
        "AAAA-AAAB",
        "there is a typing error in the friend code; compare it with what your friend "
          + "sees"
      ),
      (
        "ÄBCD-EFGH",
        "a friend code never holds “Ä”: it is made of A to Z and 2 to 9, "
          + "without O, I and L"
      ),
    ])
  func mistypedCodeHasClearMessage(_ typed: String, _ message: String) {
    do {
      _ = try FriendCode(typed)
      Issue.record("\(typed) was taken")
    } catch {
      #expect("\(error)" == message)
    }
  }

  @Test("L: Of two scores for a game and day the better one stays, of equal ones the later")
  func betterScoreWinsMerge() {
    let scoring = LeaderboardDevice.scoring
    let table: [(DailyScore, DailyScore)] = [
      (score(3), score(4)), (score(6), score(nil)), (score(3, at: 9), score(3, at: 2)),
      (score("bee", 20_261_103, 90, max: 0), score("bee", 20_261_103, 20, max: 0)),
      (score(3, at: -99), score(5, at: 99)),
    ]
    for (better, worse) in table {
      #expect(scoring.joined(better, worse) == better)
      #expect(scoring.joined(worse, better) == better)
      #expect(scoring.joined(better, better) == better)
    }
    var numbers = SeededNumbers(3)
    for seed in 0..<300 {
      let three = (0..<3).map { _ in
        score(
          "wordle", 20_261_103,
          Bool.random(using: &numbers) ? Int.random(in: 1...3, using: &numbers) : nil,
          max: Int.random(in: 5...6, using: &numbers),
          at: Double(Int.random(in: 0...1, using: &numbers)))
      }
      let first = scoring.joined(scoring.joined(three[0], three[1]), three[2])
      let second = scoring.joined(three[2], scoring.joined(three[1], three[0]))
      #expect(first == second, "round \(seed)")
    }
  }

  @Test("L: One puzzle is ranked by results, several by points, and equal scores share a rank")
  func equalScoresShareRank() {
    func of(_ user: String, _ score: DailyScore) -> DailyScore {
      var score = score
      score.userId = user
      return score
    }
    let scores = [
      of("_a", score(3)), of("_b", score(3)), of("_c", score(nil)), of("_d", score(2)),
      of("_a", score("bee", 20_261_103, 40, max: 0)), of("_c", score("wordle", 20_261_102, 1)),
    ]
    let names = ["_a": "Ada", "_b": "Ben", "_c": "Cy", "_d": "Di"]
    let scoring = LeaderboardDevice.scoring
    func rows(_ query: LeaderboardQuery) -> [String] {
      scoring.rank(scores, query, names: names, me: "_b").map {
        "\($0.rank) \($0.displayName) \($0.points) \($0.solved)/\($0.played)"
          + ($0.isMe ? " me" : "")
      }
    }
    #expect(
      rows(LeaderboardQuery(gameId: "wordle", from: 20_261_103, through: 20_261_103))
        == ["1 Di 5 1/1", "2 Ada 4 1/1", "2 Ben 4 1/1 me", "4 Cy 0 0/1"])
    #expect(
      rows(LeaderboardQuery()) == ["1 Cy 6 1/2", "2 Ada 5 2/2", "2 Di 5 1/1", "4 Ben 4 1/1 me"])
    #expect(rows(LeaderboardQuery(gameId: "bee")) == ["1 Ada 1 1/1"])
    #expect(rows(LeaderboardQuery(from: 20_270_101)) == [])
  }

  @Test("L: 10,000 scores are added and ranked without quadratic cost")
  func tenThousandScoresRankQuickly() async throws {
    let phone = try LeaderboardDevice(LoopbackServer(), "phone", looksForCloud: false)
    for hundred in 0..<100 {
      try await phone.hybrid.publishDailyScores(
        (0..<100).map { score("game\($0)", 20_260_101 + hundred % 28, $0 % 7) })
    }
    #expect(phone.hybrid.myScores.count == 2_800 && phone.hybrid.waiting == 2_800)
    let row = try #require(try phone.hybrid.standings(LeaderboardQuery()).first)
    #expect(row.played == 2_800)
  }

  @Test("L: The service in use is shown with the design's texts")
  func serviceNamesFollowDesign() {
    #expect(ServiceStatus.cloudKit.displayName == "Real-time Sync")
    #expect(ServiceStatus.cloudKit.description == "Scores sync automatically across devices")
    #expect(ServiceStatus.local.displayName == "Local Storage")
    #expect(ServiceStatus.local.description == "Scores stored locally on this device")
  }

  @Test("L: Scores of impossible games and days are refused")
  func invalidScoresAreRefused() {
    for (game, day) in [("", 20_261_103), ("a b", 20_261_103), ("ä", 20_261_103)] {
      #expect(throws: SocialServiceError.invalidGame) { try score(game, day, 3).validate() }
    }
    for day in [0, 2026, 20_261_301, 20_260_100, 99_999_999] {
      #expect(throws: SocialServiceError.invalidDay(day)) {
        try score("wordle", day, 3).validate()
      }
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 13 * 3_600) ?? .current
    #expect(DailyScore.dateInt(of: LeaderboardDevice.noon, calendar: calendar) == 20_261_104)
  }
}
