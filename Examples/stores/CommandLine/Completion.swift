import CommandLineKit
import Foundation
import SyncSupport

/// Completes command lines for a shell.
///
/// The shells' scripts call the tool, which uses its usage lines and the data on the device. It
/// sends no requests, and omits what it can't read at once.
extension Completion {
  /// The completions of the last of `words`.
  static func answer(_ words: [String], _ environment: [String: String]) async -> String {
    let current = words.last ?? ""
    return answer(await candidates(words.dropLast(), current, environment), to: current)
  }

  /// The words that may follow `before`; `nil` for a file.
  private static func candidates(
    _ before: [String].SubSequence, _ current: String, _ environment: [String: String]
  ) async -> [Candidate]? {
    let (global, commands) = (GlobalOptions.usage.options, ToolCommand.all)
    let line = PartialLine(before, options: global + commands.flatMap(\.usages).flatMap(\.options))
    let given = line.words
    let store = Store.all.first { $0.name == given.first }
    let device = CompletedDevice(line.values, store, environment)
    if let open = line.open { return await device.candidates(option: open) }
    let command = given.first.flatMap { name in commands.first { $0.name == name } }
    let usages = (command?.usages ?? []).filter { usage in
      given.count < 2 || usage.positionals.first?.choices.contains(given[1]) == true
    }
    if current.hasPrefix("-") {
      return (global + usages.flatMap(\.options)).map { Candidate(word: "--\($0.name)") }
    }
    guard let first = given.first else {
      return summaries(of: commands.map(\.name))
        + [Candidate(word: "help", meaning: "more about a command")]
    }
    if first == "help" { return list(commands.map(\.name) + ["server"]) }
    if given.count == 1, let verbs = command?.verbs, !verbs.isEmpty {
      return verbs.map { Candidate(word: $0.name, meaning: $0.firstLine) }
    }
    let places = usages.compactMap { usage in
      usage.positionals.count >= given.count ? usage.positionals[given.count - 1] : nil
    }
    guard !places.contains(where: \.isFile) else { return nil }
    var found: [Candidate] = []
    for place in places { found += await device.candidates(place) }
    return found
  }

  /// Commands, with their descriptions in the overview.
  fileprivate static func summaries(of names: [String]) -> [Candidate] {
    Help.commands.filter { names.contains($0.name) }.map {
      Candidate(word: $0.name, meaning: $0.summary)
    }
  }

  /// Candidates without a meaning.
  fileprivate static func list(_ words: [String]) -> [Candidate] {
    words.map { Candidate(word: $0) }
  }
}

extension Verb {
  /// The first line of its summary, as a line of its own.
  fileprivate var firstLine: String {
    String(summary.last.map { ";,:".contains($0) } == true ? summary.dropLast() : summary[...])
  }
}

/// The completions that depend on the devices in the home folder.
///
/// It reads only a device that exists, and only while no other command uses it.
private struct CompletedDevice {
  private let home: Home?
  private let name: String
  private let store: Store?

  /// The device that a command line names.
  ///
  /// - Parameter values: the values of the options on the line, by name.
  init(_ values: [String: String], _ store: Store?, _ environment: [String: String]) {
    self.store = store
    name = values["device"] ?? "default"
    home = try? Home(
      values["home"], environment: environment,
      server: WebAddress(GlobalOptions(values), environment))
  }

  /// The completions of an option's value; `nil` for a file.
  func candidates(option: UsageLine.Option) async -> [Completion.Candidate]? {
    guard let value = option.value else { return [] }
    return value.isFile ? nil : await candidates(value)
  }

  /// The completions of a word in a usage line.
  func candidates(_ place: UsageLine.Placeholder) async -> [Completion.Candidate] {
    var found = Completion.list(place.choices)
    for kind in place.names {
      switch kind {
      case "DEVICE": found += Completion.list(devices)
      case "ACCOUNT": found += accounts
      case "STORE": found += Completion.summaries(of: Store.all.map(\.name))
      default:
        if let completing = store?.completing[kind] {
          found += (try? await items(completing)) ?? []
        }
      }
    }
    return found
  }

  private func items(_ completing: Completing) async throws -> [Completion.Candidate] {
    switch completing {
    case .fixed(let words): return Completion.list(words)
    case .opened(let items):
      guard let home, devices.contains(name) else { return [] }
      let session = try await Session(home, device: name, account: nil, waitAtMost: 0.1)
      defer { withExtendedLifetime(session) {} }
      return try items(session)
    }
  }

  private var devices: [String] {
    let names = home.flatMap {
      try? FileManager.default.contentsOfDirectory(atPath: $0.devices.path)
    }
    return (names ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }

  private var accounts: [Completion.Candidate] {
    let names = devices.compactMap { device -> String? in
      guard let folder = try? home?.folder(ofDevice: device) else { return nil }
      return (try? DeviceSettings.file(in: folder).read())?.account
    }
    return Completion.list(Set(names).sorted())
  }
}

extension ToolCommand {
  static let completion = ToolCommand(
    "completion",
    Verb("bash|zsh|fish") { arguments in
      let script = try Completion.script(of: arguments.word("the shell"), for: "stores")
      return { _ in
        Output.write(script)
        return 0
      }
    })
}
