import CommandLineKit
import Foundation

/// What a device can say for a command line that is being written.
///
/// Only a device that is there already is looked into, and only when no other command acts as it.
struct CompletedDevice {
  private let home: Home?
  private let name: String
  private let store: Store?

  /// The device that a command line names.
  init(_ line: CompletedLine, _ store: Store?, _ environment: [String: String]) {
    self.store = store
    name = line.values["device"] ?? "default"
    var options = GlobalOptions()
    options.home = line.values["home"]
    options.server = line.values["server"]
    options.apiToken = line.values["api-token"]
    options.webToken = line.values["web-token"]
    options.controlToken = line.values["control-token"]
    let server = try? ServerAddress(options, environment)
    home = server.flatMap { try? Home(options.home, environment: environment, server: $0) }
  }

  /// The values an option may have; `nil` where it is a file.
  func candidates(option: UsageLine.Option) async -> [Completion.Candidate]? {
    switch option.name {
    case "device": return devices.map { Completion.Candidate(word: $0) }
    case "account": return accounts.map { Completion.Candidate(word: $0) }
    case "store":
      return Store.all.map { Completion.Candidate(word: $0.name, meaning: $0.summary) }
    default:
      guard let value = option.value else { return [] }
      return value.isFile ? nil : await candidates(value)
    }
  }

  /// What may stand where a usage has `place`.
  func candidates(_ place: UsageLine.Placeholder) async -> [Completion.Candidate] {
    var found = place.choices.map { Completion.Candidate(word: $0) }
    for name in place.names {
      guard let store else {
        // The one command about all stores that asks for something is `account switch NAME`.
        if name == "NAME" { found += accounts.map { Completion.Candidate(word: $0) } }
        continue
      }
      if let completing = store.completing[name] {
        found += (try? await items(completing)) ?? []
      }
    }
    return found
  }

  private func items(_ completing: Completing) async throws -> [Completion.Candidate] {
    if case .fixed(let words) = completing { return words.map { Completion.Candidate(word: $0) } }
    guard let home, devices.contains(name) else { return [] }
    let session = try await Session(home, device: name, account: nil, waitAtMost: 0.1)
    defer { withExtendedLifetime(session) {} }
    return try completing.items(session)
  }

  /// The devices that are there.
  private var devices: [String] {
    guard
      let folder = home.flatMap({ try? $0.folder(ofDevice: "any") })?.deletingLastPathComponent()
    else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  /// The accounts that the devices are signed in as.
  private var accounts: [String] {
    let names = devices.compactMap { device -> String? in
      guard let folder = try? home?.folder(ofDevice: device) else { return nil }
      return (try? DeviceSettingsFile(folder: folder).read())?.account
    }
    return Set(names).sorted()
  }
}
