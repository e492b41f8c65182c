import CloudSync
import CommandLineKit
import Foundation
import LoopbackServer
import VerificationSupport

/// The times that people wait for: a command with a server of its own, a test with two devices, and
/// a push to many devices.
enum WaitBenchmarks {
  private static let devices = 1_000

  /// P21 and P22.
  static func all() -> [Benchmark] {
    let world = Once { try await ConnectedDevices(devices) }
    return [
      Benchmark(
        name: "P21 cloudsync exec -- true, beyond true", goal: 1,
        subject: Side("the command") {
          let tool = try ServedProcess.program("cloudsync")
          let whole = try await time(tool, ["exec", "--", "true"])
          return whole - (try await time("/bin/sh", ["-c", "exec true"]))
        },
        reference: Side("60 ms") { .milliseconds(60) }),
      Benchmark(
        name: "P21 a server in process, two devices, one save, one fetch", goal: 1,
        subject: Side("from nothing to the fetched record") {
          let start = Stopwatch.now
          let server = LoopbackServer()
          let phone = JobDevice(
            server.device("phone", signedInAs: "alice"), sending: SpikeNote.samples(1))
          _ = try await phone.sendAll()
          _ = try await JobDevice(server.device("desk", signedInAs: "alice")).fetchAll(1)
          let time = Stopwatch.now - start
          server.close()
          return time
        },
        reference: Side("2 ms") { .milliseconds(2) }),
      Benchmark(
        name: "P22 a push to \(devices) connected devices, until the last has it", goal: 1,
        subject: Side("a save over HTTP until then") { try await world.value.push() },
        reference: Side("0.15 s") { .milliseconds(150) }),
      Benchmark(
        name: "P22 memory of a connected idle device on the server", goal: 1,
        subject: Side("resident memory") { .nanoseconds(try await world.value.memory) },
        reference: Side("64 KiB") { .nanoseconds(64 << 10) }, rounds: 1, unit: .bytes,
        warmsUp: false),
      Benchmark(
        name: "P22 a server with \(devices) idle devices, a second", goal: 1,
        subject: Side("processor time") { try await world.value.idleSecond() },
        reference: Side("0.1 % of a second") { .milliseconds(1) }, rounds: 1, warmsUp: false),
    ]
  }

  private static func time(_ program: String, _ arguments: [String]) async throws -> Duration {
    let process = ToolProcess(program: URL(fileURLWithPath: program), arguments: arguments)
    let start = ContinuousClock.now
    let code = try await process.start().exitCode()
    guard code == 0 else { throw ToolError("\(program) ended with \(code)") }
    return ContinuousClock.now - start
  }
}

/// A server in a process of its own, and devices that wait for its pushes over HTTP.
private actor ConnectedDevices {
  private let process: ServedProcess
  private let writer: LocalClient
  private var devices: [(client: LocalClient, poll: [UInt8])] = []
  private var saveCount = 0
  /// The growth of the server's memory for each device.
  private(set) var memory = 0

  init(_ count: Int) async throws {
    Self.allowDescriptors(count * 2)
    process = try ServedProcess(account: "alice")
    writer = try LocalClient(port: process.port)
    _ = try writer.expect(
      request(
        "database/1/\(BenchServer.container)/development/private/subscriptions/modify",
        #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all","#
          + #""subscriptionType":"query","query":{"recordType":"Note"},"firesOn":["create"]}}]}"#),
      "the subscription")
    try save()
    try connect(count)
  }

  private nonisolated func request(_ path: String, _ body: String, device: Int = 0) -> [UInt8] {
    HTTPMessage.request(
      "POST", "/\(path)?\(process.tokens)&clientId=device-\(device)",
      host: "127.0.0.1:\(process.port)", fields: "content-type: text/plain\r\n",
      body: Array(body.utf8))
  }

  private func connect(_ count: Int) throws {
    let before = ProcessFigures(of: process.id).memory ?? 0
    for number in 1...count {
      let client = try LocalClient(port: process.port)
      let answer = try client.expect(
        request(
          "device/1/\(BenchServer.container)/development/tokens/create",
          #"{"apnsEnvironment":"development"}"#, device: number), "a push token")
      let made = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
      guard let text = made?["webcourierURL"] as? String, let url = URLComponents(string: text)
      else { throw ToolError("no address of the pushes") }
      let target = url.percentEncodedPath + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
      let poll = HTTPMessage.request("GET", target, host: "127.0.0.1:\(process.port)")
      try client.send(poll)
      devices.append((client, poll))
    }
    memory = max(1, ((ProcessFigures(of: process.id).memory ?? 0) - before) / count)
  }

  private func save() throws {
    saveCount += 1
    let answer = try writer.expect(
      request(
        "database/1/\(BenchServer.container)/development/private/records/modify",
        #"{"operations":[{"operationType":"create","record":{"recordName":"note-\#(saveCount)","#
          + #""recordType":"Note","fields":{"title":{"value":"Bread"}}}}]}"#), "a save")
    guard !answer.text.contains("serverErrorCode") else { throw ToolError(answer.text) }
  }

  /// The time from a save until the last device has its push.
  func push() throws -> Duration {
    let start = ContinuousClock.now
    try save()
    for (client, poll) in devices {
      // A poll that ended without a push is repeated, as devices do.
      while true {
        guard let push = try client.receive() else {
          throw ToolError("the server ended a connection")
        }
        guard push.status == 200 else { throw ToolError("no push came: \(push.text)") }
        if !push.body.isEmpty { break }
        try client.send(poll)
      }
    }
    let time = ContinuousClock.now - start
    for (client, poll) in devices { try client.send(poll) }
    return time
  }

  /// The processor time of the server in a second in which nothing happens.
  func idleSecond() async throws -> Duration {
    let seconds = 4
    try await Task.sleep(for: .seconds(1))
    let before = try processorTime()
    try await Task.sleep(for: .seconds(seconds))
    return (try processorTime() - before) / seconds
  }

  /// The processor time of the server's threads; `ProcessFigures` counts hundredths of a second.
  private func processorTime() throws -> Duration {
    let threads = "/proc/\(process.id)/task"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: threads) else {
      throw Absence(reason: "the system does not tell the processor time of threads")
    }
    return names.reduce(.zero) { sum, name in
      let data = FileManager.default.contents(atPath: "\(threads)/\(name)/schedstat") ?? Data()
      return sum
        + .nanoseconds(Int(String(decoding: data, as: UTF8.self).prefix { $0 != " " }) ?? 0)
    }
  }

  /// Lets this process and its children have so many open files, as far as the system allows it.
  private static func allowDescriptors(_ count: Int) {
    var limit = rlimit()
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    guard getrlimit(kind, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
    setrlimit(kind, &limit)
  }
}
