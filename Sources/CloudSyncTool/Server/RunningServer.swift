import CloudProtocol
import CommandLineKit
import Dispatch
import Foundation
import LoopbackHTTP
import LoopbackServer
import WebServices

/// A listening server, with its address and tokens.
struct RunningServer: Sendable {
  /// An account and its token.
  struct AccountToken: Sendable {
    var account: String
    var webAuthToken: String
  }

  let web: LoopbackWebServer
  let accountTokens: [AccountToken]
  let apiToken: String
  /// The location of its data: a path, an address without a password, or `memory`.
  let place: String
  private let exportFile: String?
  private let requestLog: RequestLog?
  /// Whether the control token stays out of the output: its owner has it already.
  private let hidesControlToken: Bool
  /// The URL under which other machines reach it; `nil` if none was given.
  let publicURL: String?

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - isJSON: Whether the lines of the request log are JSON.
  ///   - isService: Whether a control token that was given is not printed again, and only the
  ///     accounts that were named get a web token then, because the output may go into a log that
  ///     is kept; and whether the limit of open files is raised.
  /// - Throws: If the file or the port cannot be used, or an account name is invalid.
  init(_ options: ServerOptions, isJSON: Bool = false, isService: Bool = false) throws {
    let hidesControlToken = isService && options.web.controlToken != nil
    self.hidesControlToken = hidesControlToken
    // Everything would be lost at the end.
    if let path = options.exportFile { try NewFile.check(path, besides: options.file) }
    let server = try ServerData.open(options.file, create: true)
    if isService { server.observeStorage(RunningServer.report) }
    do {
      if let path = options.importFile, !options.beginsWithoutArchive {
        try ArchiveLines(path).fill(server)
      }
      var web = options.web
      // The command of exec would inherit a raised limit.
      if let limit = isService ? DescriptorLimit.raise() : DescriptorLimit.ofProcess {
        web.connections = DescriptorLimit.connections(
          of: limit.current, wanted: web.connections)
      }
      requestLog = try options.requestLog.map { try RequestLog($0, isJSON: isJSON) }
      if let requestLog { web.requestLog = { requestLog.note($0) } }
      web.stopRequested = {
        // A server in the background can't report an error when it ends, and without the archive
        // its data are lost. The archive that is written at the end replaces this one.
        if let path = options.exportFile { try RunningServer.export(server, to: path) }
        kill(getpid(), SIGTERM)
      }
      self.web = try RunningServer.listen(server, web)
    } catch {
      server.close()
      throw error
    }
    if options.file != nil { server.watchForForeignChanges() }
    place = ServerData.name(options.file)
    publicURL = options.web.publicURL
    exportFile = options.exportFile
    apiToken = web.apiToken(for: options.container)
    do {
      let web = web
      let accounts = try RunningServer.accounts(options, server, namedOnly: hidesControlToken)
      accountTokens = try accounts.map { account in
        AccountToken(
          account: account,
          webAuthToken: try web.webAuthToken(for: account, container: options.container))
      }
      // The profile may name the accounts.
      if let faults = options.faults { try RunningServer.inject(faults, web) }
    } catch {
      server.close()
      throw error
    }
  }

  /// Starts listening; the exit code for an address that this machine does not have is another one
  /// than for a port that can't be used.
  private static func listen(
    _ server: LoopbackServer, _ options: LoopbackWebServer.Options
  ) throws(ToolError) -> LoopbackWebServer {
    do throws(CloudError) { return try LoopbackWebServer(server, options: options) } catch {
      let codes: [CloudError.Code: CInt] = [
        .invalidArguments: ExitCode.usage, .serverRejectedRequest: ExitCode.unavailable,
      ]
      throw ToolError(error.message, code: codes[error.code] ?? ExitCode.failure)
    }
  }

  private static let reports = DispatchQueue(label: "storage reports")

  /// Says on standard error that the storage began to fail, or that it works again.
  @Sendable private static func report(_ failure: String?) {
    let words = failure.map { "the storage fails: \(printable($0))" } ?? "the storage works again"
    // Requests do not wait for a log that is not read.
    reports.async { Output.writeError("cloudsync: \(words)\n") }
  }

  private static func inject(_ faults: FaultProfile, _ web: LoopbackWebServer) throws(ToolError) {
    do throws(HTTPRefusal) { try web.injectFaults(faults.body) } catch {
      throw ToolError(
        faults.prefix(ofItem: error.index) + printable(error.reason), code: ExitCode.usage)
    }
  }

  /// The accounts that get a token: those that were named, else those that exist, else a new one.
  ///
  /// - Parameter namedOnly: Whether no account gets a token if none was named.
  private static func accounts(
    _ options: ServerOptions, _ server: LoopbackServer, namedOnly: Bool
  ) throws -> [String] {
    var named: [String] = []
    for account in options.accounts where !named.contains(account) { named.append(account) }
    guard named.isEmpty, !namedOnly else { return named }
    let known = try server.accounts().map(\.name).filter { !LoopbackWebServer.isKey(account: $0) }
    return known.isEmpty ? [ServerOptions.defaultAccount] : known
  }

  /// The URL of the console, without the control token if that is not printed.
  private var consoleURL: String {
    hidesControlToken ? String(web.consoleURL.prefix { $0 != "#" }) : web.consoleURL
  }

  /// The address and tokens as one line of JSON.
  var json: JSON {
    .members([
      "ready": .bool(true), "url": .string(web.url),
      "publicURL": publicURL.map { .string($0) }, "port": .integer(web.port),
      "apiToken": .string(apiToken),
      "controlToken": hidesControlToken ? nil : JSON.string(web.controlToken),
      "console": .string(consoleURL), "data": .string(place),
      "accounts": .array(
        accountTokens.map {
          .members(["account": .string($0.account), "webAuthToken": .string($0.webAuthToken)])
        }),
    ])
  }

  /// The address and tokens as text; the last line is `ready`.
  var text: String {
    var rows = [("server", web.url)] + (publicURL.map { [("public URL", $0)] } ?? [])
    rows += [
      ("data", place), ("API token", apiToken),
      ("control token", hidesControlToken ? "that of \(Variable.controlToken)" : web.controlToken),
    ]
    rows += accountTokens.map { ("web token of \(printable($0.account))", $0.webAuthToken) }
    rows.append(("console", consoleURL))
    let width = rows.map(\.0.count).max() ?? 0
    let lines = rows.map { name, value in
      name + String(repeating: " ", count: width - name.count) + "  " + value
    }
    return (lines + ["ready", ""]).joined(separator: "\n")
  }

  /// Opens the request log again, if there is one, because its file was moved.
  func reopenRequestLog() { requestLog?.reopen() }

  /// Stops listening, writes the archive that was asked for, and closes the file.
  ///
  /// - Throws: If the archive cannot be written.
  func stop() async throws {
    await web.stop()
    requestLog?.finish()
    defer { web.server.close() }
    guard let exportFile else { return }
    try RunningServer.export(web.server, to: exportFile)
  }

  private static func export(_ server: LoopbackServer, to path: String) throws {
    let file = try NewFile(path)
    do {
      try server.exportArchive { try file.write(Array($0.utf8)) }
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }
}
