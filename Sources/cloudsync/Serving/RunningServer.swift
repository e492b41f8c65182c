import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import WebServices

/// A server that listens, with everything a client needs to know.
struct RunningServer: Sendable {
  /// An account and its token.
  struct Guest: Sendable {
    var account: String
    var webAuthToken: String
  }

  let web: LoopbackWebServer
  let guests: [Guest]
  let apiToken: String
  /// Where it is kept: a path, or `memory`.
  let place: String

  /// Starts a server.
  ///
  /// - Throws: When the file can't be used, the port can't be had, or nobody can be called so.
  init(_ options: ServerOptions) throws {
    let server = try ServerData.open(options.file, create: true)
    do {
      web = try LoopbackWebServer(
        server,
        options: LoopbackWebServer.Options(
          port: options.port, allowsFaultControl: options.allowsFaultControl,
          allowedOrigins: options.allowedOrigins, controlToken: options.controlToken))
    } catch {
      server.close()
      throw error
    }
    if options.file != nil { server.watchForForeignChanges() }
    place = options.file ?? "memory"
    apiToken = web.apiToken(for: options.container)
    var guests: [Guest] = []
    for account in options.accounts where !guests.contains(where: { $0.account == account }) {
      guests.append(
        Guest(
          account: account,
          webAuthToken: try web.webAuthToken(for: account, container: options.container)))
    }
    self.guests = guests
  }

  /// Everything on one line of JSON.
  var json: JSON {
    .members([
      "ready": .bool(true), "url": .string(web.url), "port": .integer(web.port),
      "apiToken": .string(apiToken), "controlToken": .string(web.controlToken),
      "console": .string(web.consoleURL), "data": .string(place),
      "accounts": .array(
        guests.map {
          .members(["account": .string($0.account), "webAuthToken": .string($0.webAuthToken)])
        }),
    ])
  }

  /// Everything for people; the last line is `ready`.
  var text: String {
    var rows = [
      ("server", web.url), ("data", place), ("API token", apiToken),
      ("control token", web.controlToken),
    ]
    rows += guests.map { ("web token of \(printable($0.account))", $0.webAuthToken) }
    rows.append(("console", web.consoleURL))
    let width = rows.map(\.0.count).max() ?? 0
    let lines = rows.map { name, value in
      name + String(repeating: " ", count: width - name.count) + "  " + value
    }
    return (lines + ["ready", ""]).joined(separator: "\n")
  }

  /// Stops listening, then closes the file.
  func stop() async {
    await web.stop()
    web.server.close()
  }
}
