import Foundation
import Testing

@Suite("cloudsync exec: a server for as long as a command runs")
struct ExecTests {
  /// Proves S9.
  @Test("The exec command exits with the result of its command and prints nothing itself")
  func execExitsWithCommandResult() async throws {
    let tool = try ServerTool()
    let cases: [([String], CInt, String, String)] = [
      (["sh", "-c", "echo out; echo err >&2"], 0, "out\n", "err\n"),
      (["sh", "-c", "exit 7"], 7, "", ""),
      (["sh", "-c", "kill -9 $$"], 137, "", ""),
      (["sh", "-c", "kill -TERM $$"], 143, "", ""),
      (["cat"], 0, "input", ""),
      (["no-such-command-anywhere"], 127, "", "cloudsync: there is no command"),
      (["/"], 126, "", "cloudsync: cannot run the command \"/\""),
      (["sh", "-c", "echo \"$0 $1\"", "--port", "--help"], 0, "--port --help\n", ""),
    ]
    for (command, code, output, errors) in cases {
      let run = try await tool.run(["exec", "--"] + command, input: "input")
      #expect(run.code == code, "\(command)")
      #expect(run.output == output, "\(command)")
      #expect(errors.isEmpty ? run.errors.isEmpty : run.errors.hasPrefix(errors), "\(run.errors)")
    }
  }

  @Test("The environment of the command leads to the server and bypasses any proxy")
  func execEnvironmentLeadsToServer() async throws {
    let tool = try ServerTool()
    let program = try BuiltTool.program("cloudsync").path
    let names = [
      "SERVER", "API_TOKEN", "CONTROL_TOKEN", "ACCOUNT", "WEB_AUTH_TOKEN", "CONTAINER",
    ]
    let script =
      names.map { "echo \"$CLOUDSYNC_\($0)\"" }.joined(separator: ";")
      + "; exec \"\(program)\" inspect accounts"
    let run = try await tool.run(
      [
        "exec", "--account", "zoe", "--account", "bob", "--container", "iCloud.a", "--", "sh", "-c",
        script,
      ], environment: ["http_proxy": "http://127.0.0.1:9", "CLOUDSYNC_ACCOUNT": "of before"])
    #expect(run.code == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count == 10, "\(lines)")
    #expect(lines[0].hasPrefix("http://127.0.0.1:"))
    #expect(lines[1].count == 64 && lines[2].count == 64 && lines[1] != lines[2])
    #expect(lines[3] == "zoe" && !lines[4].isEmpty && lines[5] == "iCloud.a")
    #expect(lines[7].hasPrefix("bob ") && lines[8].hasPrefix("zoe "), "\(lines)")
  }

  @Test("A command gets the control token that was given, and a web token of an account")
  func execPassesOnGivenControlToken() async throws {
    let tool = try ServerTool()
    let token = "a-token-of-this-test"
    let script = "echo $CLOUDSYNC_CONTROL_TOKEN $CLOUDSYNC_ACCOUNT $CLOUDSYNC_WEB_AUTH_TOKEN"
    let run = try await tool.run(
      ["exec", "--", "sh", "-c", script], environment: ["CLOUDSYNC_CONTROL_TOKEN": token])
    let words = run.output.split(whereSeparator: \.isWhitespace)
    #expect(words.count == 3 && words.prefix(2) == [token[...], "default"], "\(run.output)")
  }

  @Test(
    "Signals are forwarded to the command, which decides how it ends",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func execForwardsSignalsToCommand(signal: CInt) async throws {
    let tool = try ServerTool()
    let script = "trap 'kill $!; exit \(signal + 20)' \(signal); sleep 3600 & echo up; wait"
    let exec = try tool.start(["exec", "--", "sh", "-c", script])
    _ = try await exec.output.line { $0 == "up" }
    exec.send(signal)
    let code = await exec.exitCode()
    #expect(code == signal + 20)
  }

  @Test("A process that the command leaves running does not keep the server's port")
  func processLeftBehindReleasesServerPort() async throws {
    let tool = try ServerTool()
    // Below the ports that the system hands out, so that no connection takes it in between.
    let port = Int.random(in: 20_000..<32_000)
    let exec = try tool.start([
      "exec", "--port", "\(port)", "--", "sh", "-c",
      "sleep 3600 </dev/null >/dev/null 2>&1 & echo $! ${CLOUDSYNC_SERVER##*:}",
    ])
    let numbers = try await exec.output.line { _ in true }.split(separator: " ")
      .compactMap { CInt($0) }
    try #require(numbers.count == 2 && Int(numbers[1]) == port)
    defer { kill(numbers[0], SIGKILL) }
    #expect(await exec.exitCode() == 0)
    #expect(kill(numbers[0], 0) == 0, "the command left nothing running")
    let cloud = try await tool.serve("--port", "\(numbers[1])")
    #expect(cloud.url.hasSuffix(":\(numbers[1])"))
    #expect(await cloud.stop() == 0)
  }
}
