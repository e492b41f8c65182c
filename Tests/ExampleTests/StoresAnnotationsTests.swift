import Foundation
import Testing

@Suite("The stores tool: annotations")
struct StoresAnnotationsTests {
  /// The ID of what a verb added or changed, from its document.
  private func id(_ run: StoresTool.Run) throws -> String {
    try #require(try run.json()["id"] as? String)
  }

  @Test(
    "R: The tool adds, lists, shows, edits, moves and deletes annotations and attaches files")
  func toolManagesAnnotations() async throws {
    let tool = try StoresTool()
    try await tool.good("--device", "phone", "annotations", "layer", "add", "House")
    try await tool.good("--device", "phone", "annotations", "layer", "add", "Garden")
    let note = try id(
      await tool.run([
        "--device", "phone", "--json", "annotations", "add", "House", "Door", "--text", "green",
        "--at", "-1,2.5,3", "--scale", "2", "--type", "image",
      ]))
    let picture = try tool.file("a.bmp", Data("BM and so on".utf8))
    try await tool.good("--device", "phone", "annotations", "attach", note, picture)
    try await tool.good("--device", "phone", "annotations", "comment", note, "Nice")
    #expect(
      try await tool.good("--device", "phone", "annotations", "sync")
        == "annotations: 1 annotation on 2 layers, 0 waiting\n")
    try await tool.good("--device", "desk", "annotations", "sync")
    let page = try await tool.good(
      "--device", "desk", "annotations", "show", String(note.prefix(6)))
    #expect(page.hasPrefix("Door  image, synced\nat -1.0,2.5,3.0, scale 2.0\n"))
    #expect(page.contains("\nfile /") && page.hasSuffix("\ngreen\n\n- Nice\n"))
    try await tool.good(
      "--device", "desk", "annotations", "edit", note, "--title", "Gate", "--text", "red")
    try await tool.good("--device", "desk", "annotations", "move", note, "Garden")
    try await tool.good("--device", "desk", "annotations", "sync")
    try await tool.good("--device", "phone", "annotations", "sync")
    let list = try await tool.good("--device", "phone", "annotations", "list", "Garden")
    #expect(list.hasPrefix(note) && list.contains("    Gate  at -1.0,2.5,3.0, with a file\n"))
    #expect(
      try await tool.good("--device", "phone", "annotations", "list", "House")
        == "no annotations\n")
    try await tool.good("--device", "phone", "annotations", "delete", note)
    try await tool.good("--device", "phone", "annotations", "sync")
    try await tool.good("--device", "desk", "annotations", "sync")
    #expect(try await tool.good("--device", "desk", "annotations", "list") == "no annotations\n")
    try await tool.good("--device", "desk", "annotations", "restore", note)
    try await tool.good("--device", "desk", "annotations", "layer", "delete", "Garden")
    try await tool.good("--device", "desk", "annotations", "restore", note)
    #expect(
      try await tool.good("--device", "desk", "annotations", "list", "--orphans").contains("Gate"))
    let metrics = try await tool.good("--device", "phone", "annotations", "metrics")
    #expect(metrics.hasPrefix("uploads: 5\ndownloads: 1\nconflicts: 0\nerrors: 0\n"))
    let reset = try await tool.good("--device", "phone", "annotations", "metrics", "--reset")
    #expect(reset.hasPrefix("uploads: 0\n"))
  }

  @Test("R: The tool lists manual conflicts and resolves them with --use mine, theirs or merged")
  func toolResolvesManualConflicts() async throws {
    for (use, title) in [("mine", "desk"), ("theirs", "phone"), ("merged", "desk / phone")] {
      let tool = try StoresTool()
      try await tool.good("--device", "phone", "annotations", "layer", "add", "House")
      let note = try id(
        await tool.run(["--device", "phone", "--json", "annotations", "add", "House", "Door"]))
      for device in ["phone", "desk"] {
        try await tool.good("--device", device, "annotations", "sync")
        try await tool.good(
          "--device", device, "annotations", "strategy", "title=manual,lastWriteWins")
        try await tool.good(
          "--device", device, "annotations", "edit", note, "--title", device)
      }
      try await tool.good("--device", "phone", "annotations", "sync")
      #expect(
        try await tool.good("--device", "desk", "annotations", "sync").hasSuffix(
          ", 1 conflict for you to decide\n"))
      let list = try await tool.good("--device", "desk", "annotations", "conflicts")
      #expect(
        list == """
          \(note)  Annotation
            title: mine "desk", theirs "phone", before "Door"

          """)
      try await tool.good(
        "--device", "desk", "annotations", "resolve", String(note.prefix(5)), "--use", use)
      try await tool.good("--device", "desk", "annotations", "sync")
      try await tool.good("--device", "phone", "annotations", "sync")
      #expect(
        try await tool.good("--device", "phone", "annotations", "list").contains("  \(title)  at"))
      #expect(
        try await tool.good("--device", "desk", "annotations", "conflicts") == "no conflicts\n")
    }
  }

  @Test(
    "R: The tool shares, joins, reads and revokes a layer, and turns the link off and on")
  func toolSharesAndRevokesLayer() async throws {
    let tool = try StoresTool()
    let anna = ["--account", "anna", "--device", "phone", "annotations"]
    let ben = ["--account", "ben", "--device", "tablet", "annotations"]
    func run(_ who: [String], _ words: String...) async throws -> StoresTool.Run {
      try await tool.run(who + words)
    }
    _ = try await run(anna, "layer", "add", "House")
    let note = try id(
      await tool.run(["--json"] + anna + ["add", "House", "Door"]))
    _ = try await run(ben, "sync")
    #expect(try await run(anna, "link", "off").output == "the link is offline\n")
    let off = try await run(anna, "sync")
    #expect(off.code == 1 && off.errors.contains("run: stores annotations link on"))
    let stopped = try await run(anna, "layer", "share", "House", "--link")
    #expect(stopped.code == 1 && stopped.output.isEmpty)
    _ = try await run(anna, "link", "on")
    let shared = try await run(anna, "layer", "share", "House", "--with", "ben", "--read-only")
    #expect(shared.code == 0 && shared.output.hasPrefix("https://"), "\(shared.errors)")
    let url = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let joined = try await run(ben, "layer", "accept", url)
    #expect(joined.output.hasSuffix("House  1  shared with you to read\n"), "\(joined.errors)")
    let refused = try await run(ben, "edit", note, "--title", "Mine")
    #expect(refused.code == 1 && refused.errors.contains("shared with you to read"))
    #expect(
      try await run(anna, "layer", "list").output.hasSuffix(
        "House  1  yours, shared with 1 guest\n"))
    let layers = try await tool.run(["--json"] + anna + ["layer", "list"]).json()["layers"]
    let people = (layers as? [[String: Any]])?.first?["people"] as? [[String: Any]]
    let guest = try #require(people?.first { $0["isOwner"] as? Bool == false }?["id"] as? String)
    #expect(
      try await run(anna, "layer", "revoke", "House", "--with", guest).output
        == "the layer House is no longer shared with \(guest)\n")
    #expect(
      try await run(anna, "layer", "revoke", "House").output
        == "the layer House is no longer shared\n")
    #expect(
      try await run(ben, "sync").output == "annotations: 0 annotations on 0 layers, 0 waiting\n")
    let nobody = try await run(ben, "layer", "accept", "https://example.com/none")
    #expect(nobody.code == 1 && nobody.errors.contains("Failed to accept share"))
  }

  @Test("R: Invalid annotation commands are refused and change nothing")
  func invalidAnnotationCommandsAreRefused() async throws {
    let tool = try StoresTool()
    try await tool.good("annotations", "layer", "add", "House")
    let before = try tool.snapshot()
    let cases: [([String], CInt, String)] = [
      (["layer"], 64, "what to do with layers"), (["layer", "paint"], 64, "not \"paint\""),
      (["layer", "add"], 64, "the new layer's name"),
      (["layer", "share", "House"], 64, "with whom"),
      (["layer", "accept", "x y"], 64, "no link"), (["add", "Attic"], 67, "there is no layer"),
      (["add", "House", "--at", "1,2"], 64, "three numbers"),
      (["add", "House", "--scale", "big"], 64, "needs a number"),
      (["add", "House", "--type", "hologram"], 64, "--type is text, image"),
      (["edit", "0"], 67, "there is no annotation"), (["show"], 64, "the annotation's ID"),
      (["strategy", "newest"], 64, "is not a strategy"),
      (["link", "up"], 64, "on, off or expensive"),
      (["resolve", "0"], 64, "--use mine"),
      (["resolve", "0", "--use", "both"], 64, "--use is mine"),
      (["resolve", "0", "--use", "mine"], 67, "there is no conflict"),
      (["restore", "0"], 1, "not a whole ID"), (["attach", "0", "/none"], 67, "no annotation"),
    ]
    for (arguments, code, words) in cases {
      let run = try await tool.run(["annotations"] + arguments)
      #expect(run.code == code && run.errors.contains(words), "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty)
    }
    #expect(try tool.snapshot() == before)
  }

  @Test("R: The demo of annotations ends with no differences")
  func annotationDemoEndsWithoutDifferences() async throws {
    let tool = try StoresTool()
    let words = try await tool.good("demo", "--store", "annotations")
    #expect(words.contains("decided on the desk: mine") && words.contains("0 annotations left"))
    #expect(words.hasSuffix(", 0 differences\n"))
  }

  @Test("R: Pictures, a shared layer and a watch with pushes work over HTTP")
  func annotationsSyncOverHTTP() async throws {
    let (cloud, tool) = (try await ServerTool().serve(), try StoresTool())
    let environment = cloud.environment.merging(["CLOUDSYNC_API_TOKEN": cloud.apiToken]) { $1 }
    func run(_ device: String, _ words: String...) async throws -> StoresTool.Run {
      let account = device == "tablet" ? ["--account", "ben"] : []
      let run = try await tool.run(
        account + ["--device", device, "--json", "annotations"] + words, environment: environment)
      #expect(run.code == 0, "\(words): \(run.errors)")
      return run
    }
    _ = try await run("phone", "layer", "add", "House")
    let note = try id(await run("phone", "add", "House", "Door", "--at", "0.1,0,7"))
    let picture = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    _ = try await run("phone", "attach", note, try tool.file("a.bmp", picture))
    _ = try await run("phone", "sync")
    _ = try await run("desk", "sync")
    let shown = try await run("desk", "show", note).json()
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: #require(shown["media"] as? String))) == picture)
    let page = try await run("phone", "show", note).json()
    for key in ["updated", "created", "owner", "title"] {
      #expect(page[key] as? String == shown[key] as? String, "\(key)")
    }
    let watch = try RunningTool(
      tool.process(["--device", "desk", "--json", "annotations", "watch"], environment))
    _ = try await watch.errors.line { $0.contains("watching 1 annotation of desk") }
    _ = try await run("phone", "edit", note, "--title", "Gate")
    let clock = ContinuousClock()
    _ = try await run("phone", "sync")
    let sent = clock.now
    _ = try await watch.output.line { $0.contains("Gate") }
    // Without a push it asks after 30 seconds.
    #expect(clock.now - sent < .seconds(20), "no push woke it up")
    watch.send(SIGINT)
    #expect(await watch.exitCode() == 0)

    _ = try await run("tablet", "sync")
    let shared = try await run("phone", "layer", "share", "House", "--link").json()
    _ = try await run("tablet", "layer", "accept", try #require(shared["url"] as? String))
    _ = try await run("tablet", "edit", note, "--title", "Ben's")
    _ = try await run("tablet", "sync")
    _ = try await run("phone", "sync")
    #expect(try await run("phone", "show", note).json()["title"] as? String == "Ben's")
    _ = try await run("phone", "layer", "revoke", "House")
    _ = try await run("tablet", "sync")
    let left = try await run("tablet", "list").json()["annotations"] as? [Any]
    #expect(left?.isEmpty == true)
    #expect(await cloud.stop() == 0)
  }
}
