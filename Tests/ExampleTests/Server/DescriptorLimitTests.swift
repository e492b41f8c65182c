import Foundation
import Testing
import VerificationSupport

/// Servers that may have few files and connections open.
@Suite("cloudsync serve with a limit of open files", .timeLimit(.minutes(20)))
struct DescriptorLimitTests {
  /// What the server answers at the last of so many open connections, of which the others send
  /// nothing.
  ///
  /// - Parameter asks: Whether the last connection sends a request.
  private func answer(
    _ cloud: ServedCloud, atConnection count: Int, asks: Bool
  ) async throws -> String {
    let port = try #require(cloud.url.split(separator: ":").last)
    let request = "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n\\r\\n"
    let script = """
      fd=10
      while [ $fd -lt $2 ]; do
        eval "exec $fd<>/dev/tcp/127.0.0.1/$1" || exit 1
        fd=$((fd + 1))
      done
      exec 3<>/dev/tcp/127.0.0.1/$1
      \(asks ? "printf '\(request)' >&3" : ":")
      IFS= read -r line <&3
      echo "$line"
      """
    let process = ToolProcess(
      program: URL(fileURLWithPath: "/bin/bash"),
      arguments: ["--norc", "-c", script, "bash", String(port), "\(count + 9)"])
    let run = try await BuiltTool.run(process)
    #expect(run.code == 0, "\(run.errors)")
    return run.output
  }

  @Test("A server raises the soft limit of open files, so that all its connections have room")
  func softLimitIsRaised() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve(after: "ulimit -S -n 100")
    let line = try await answer(cloud, atConnection: 150, asks: true)
    #expect(line.hasPrefix("HTTP/1.1 200 "), "\(line)")
    #expect(await cloud.stop() == 0)
  }

  @Test("Under a low hard limit a server accepts fewer connections, says so, and refuses others")
  func lowHardLimitLowersConnections() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve(after: "ulimit -n 200")
    let warning = try await cloud.tool.errors.line { $0.contains("200 files open") }
    #expect(warning.contains(" 100 connections at once instead of 2048"), "\(warning)")
    // Without the lower limit this connection would be accepted, and wait.
    let line = try await answer(cloud, atConnection: 101, asks: false)
    #expect(line.hasPrefix("HTTP/1.1 503 "), "\(line)")
    #expect(await cloud.stop() == 0)
  }
}
