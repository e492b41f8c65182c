import Foundation
import Testing

@Suite("The stores tool: achievements and leaderboards")
struct StoresSocialTests {
  @Test("A: The tool records achievements, counts results, reports that sync is off and merges")
  func toolMergesAchievementsWhenSyncIsOn() async throws {
    let tool = try StoresTool()
    let off = "achievements: off, nothing leaves this device (stores achievements sync on)\n"
    #expect(try await tool.good("achievements", "sync") == off)
    let earned = try await tool.good("achievements", "earn", "streak", "31")
    #expect(earned == "streak  gold  31 of 100  Days in a row\n")
    #expect(try await tool.good("achievements", "status").contains("sync: off\nstate: Off."))
    try await tool.good("results", "add", input: "Wordle 1,956 2/6*\n\n⬛🟨🟩🟨🟩\n🟩🟩🟩🟩🟩\n")
    let counted = try await tool.good("achievements", "import")
    #expect(counted.contains("solved  –  1 of 5"), "\(counted)")
    #expect(try await tool.good("achievements", "import") == "nothing new was reached\n")
    try await tool.good("--device", "desk", "achievements", "earn", "streak", "8")
    try await tool.good("--device", "desk", "achievements", "earn", "perfect", "3")
    for device in ["default", "desk"] {
      let words = try await tool.good("--device", device, "achievements", "sync", "on")
      #expect(words == "sync is on\n")
    }
    for device in ["default", "desk", "default"] {
      try await tool.good("--device", device, "achievements", "sync")
    }
    let lists = [
      try await tool.good("achievements", "list"),
      try await tool.good("--device", "desk", "achievements", "list"),
    ]
    #expect(lists[0] == lists[1])
    #expect(lists[0].contains("31 of 100") && lists[0].contains("perfect"))
    let json = try await tool.run(["--json", "achievements", "list"]).json()
    let rows = try #require(json["achievements"] as? [[String: Any]])
    #expect(rows.first { $0["name"] as? String == "perfect" }?["tier"] as? String == "silver")
    for (words, message) in [
      (["earn", "flying", "1"], "there is no achievement \"flying\"; there are streak, regular"),
      (["earn", "streak", "lots"], "progress is a whole number"), (["sync", "maybe"], "on or off"),
    ] {
      let run = try await tool.run(["achievements"] + words)
      #expect(run.code != 0 && run.errors.contains(message), "\(run.errors)")
    }
  }

  @Test("L: The tool publishes, shares a leaderboard between accounts, revokes and leaves")
  func toolSharesLeaderboardBetweenAccounts() async throws {
    let tool = try StoresTool()
    func ada(_ words: String...) async throws -> String {
      let run = try await tool.run(["--account", "ada"] + words)
      #expect(run.code == 0 && run.errors.isEmpty, "\(words): \(run.errors)")
      return run.output
    }
    func ben(_ words: String...) async throws -> String {
      let run = try await tool.run(["--device", "tablet", "--account", "ben"] + words)
      #expect(run.code == 0 && run.errors.isEmpty, "\(words): \(run.errors)")
      return run.output
    }
    #expect(try await ada("leaderboard", "profile", "Ada").hasPrefix("name: Ada\nfriend code: "))
    let code = try await ada("leaderboard", "code").trimmingCharacters(in: .whitespacesAndNewlines)
    let published = try await ada(
      "leaderboard", "publish", "wordle", "3", "--day", "2026-11-03")
    #expect(published == "1 score on this device, 2 waiting for the cloud\n")
    #expect(
      try await ada("leaderboard", "sync")
        == "leaderboard: 1 score, 0 leaderboards, 0 waiting · Real-time Sync\n")
    #expect(
      try await ada("leaderboard", "status").hasPrefix(
        "Real-time Sync: Scores sync automatically across devices\n"))
    #expect(try await ada("leaderboard", "create", "Family").hasPrefix("made Family, "))

    _ = try await ben("leaderboard", "profile", "Ben")
    _ = try await ben("leaderboard", "publish", "Wordle", "2", "--day", "20261103")
    _ = try await ben("leaderboard", "friend", "add", code.lowercased())
    _ = try await ben("leaderboard", "sync")
    let profile = try await ben("leaderboard", "profile")
    let user = try #require(profile.split(separator: "user: ").last)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let unknown = try await tool.run(["leaderboard", "share", "Family", "--with", "bob"])
    #expect(unknown.code == 67 && unknown.errors.contains("there is no user “bob”"))
    let link = try await ada("leaderboard", "share", "Family", "--with", user)
    let joined = try await ben(
      "leaderboard", "accept", link.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(joined.hasPrefix("joined Family, "))
    _ = try await ada("leaderboard", "sync")
    let ranking = try await ada(
      "leaderboard", "show", "Family", "--game", "wordle", "--day", "2026-11-03")
    #expect(ranking == "1  Ben  5  1/1  2\n2  Ada (you)  4  1/1  3\n")
    #expect(try await ben("leaderboard", "friends").contains("Ada"))
    #expect(try await ben("leaderboard", "list").contains("shared with you  Ada, Ben  2"))

    _ = try await ada("leaderboard", "revoke", "Family", user)
    _ = try await ben("leaderboard", "sync")
    #expect(try await ben("leaderboard", "list").hasPrefix("no leaderboards yet"))
    let open = try await ada("leaderboard", "share", "Family", "--anyone")
    _ = try await ben(
      "leaderboard", "accept", open.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(try await ben("leaderboard", "leave", "family") == "you left family\n")
    #expect(try await ada("leaderboard", "delete", "Family") == "Family is no more\n")
  }

  @Test("L: Invalid commands are refused with an explanation")
  func invalidLeaderboardCommandsAreExplained() async throws {
    let tool = try StoresTool()
    for (words, message) in [
      (["friend", "add", "AAAA-AAAB"], "there is a typing error in the friend code"),
      (["friend", "add", "0000-0000"], "a friend code never holds “0”"),
      (["publish", "wordle", "3", "--day", "yesterday"], "a day is written as 2026-11-03"),
      (["publish", "wordle", "3", "--day", "20261399"], "20261399 is not a day"),
      (["publish"], "name a game"), (["profile", "  "], "a name needs at least one letter"),
      (["share", "Family"], "say with whom"), (["show", "Family"], "there is no leaderboard"),
      (["accept", "https://share.cloudsync.example/0"], "no share has this URL"),
    ] {
      let run = try await tool.run(["leaderboard"] + words)
      #expect(run.code != 0 && run.errors.contains(message), "\(words): \(run.errors)")
    }
    #expect(
      try await tool.good("leaderboard", "publish", "wordle")
        == "1 score on this device, 1 waiting for the cloud\n")
  }
}
