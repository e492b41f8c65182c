import CommandLineKit
import Foundation
import SyncSupport

/// The completions that depend on the devices in the home folder.
///
/// It reads only a device that exists, and only while no other command uses it.
struct CompletedDevice {
  private let home: Home?
  private let name: String
  private let store: Store?

  /// The device that a command line names.
  ///
  /// - Parameter values: the values of the options on the line, by name.
  init(_ values: [String: String], _ store: Store?, _ environment: [String: String]) {
    self.store = store
    name = values["device"] ?? "default"
    let server = try? ServerAddress(GlobalOptions(values), environment)
    home = server.flatMap { try? Home(values["home"], environment: environment, server: $0) }
  }

  /// The completions of an option's value; `nil` for a file.
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

  /// The completions of a word in a usage line.
  func candidates(_ place: UsageLine.Placeholder) async -> [Completion.Candidate] {
    var found = place.choices.map { Completion.Candidate(word: $0) }
    for name in place.names {
      guard let store else {
        // Of the commands for all stores, only `account switch NAME` has a value.
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

  /// The names of the devices.
  private var devices: [String] {
    guard
      let folder = home.flatMap({ try? $0.folder(ofDevice: "any") })?.deletingLastPathComponent()
    else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  /// The accounts of the devices.
  private var accounts: [String] {
    let names = devices.compactMap { device -> String? in
      guard let folder = try? home?.folder(ofDevice: device) else { return nil }
      return (try? DeviceSettings.file(in: folder).read())?.account
    }
    return Set(names).sorted()
  }
}
