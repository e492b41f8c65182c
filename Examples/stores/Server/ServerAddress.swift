import CommandLineKit
import Foundation
import Records

/// Which server the stores talk to.
enum ServerAddress: Hashable, Sendable {
  /// The one in a file of the home folder.
  case home
  /// One that runs, reached by HTTP.
  case web(WebAddress)

  /// The server that the command line names, else the one the environment names, else the home's.
  ///
  /// - Throws: `UsageError` when it is no server by HTTP, or something that lets in is missing.
  init(_ options: GlobalOptions, _ environment: [String: String]) throws(UsageError) {
    do throws(UsageError) {
      self = try Self.named(options, environment)
    } catch {
      throw UsageError(error.description, topic: "server")
    }
  }

  private static func named(
    _ options: GlobalOptions, _ environment: [String: String]
  ) throws(UsageError) -> ServerAddress {
    func variable(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    guard let text = options.server ?? variable(Variable.server) else {
      let given = [
        ("api-token", options.apiToken), ("web-token", options.webToken),
        ("control-token", options.controlToken),
      ].first { $0.1 != nil }
      if let given { throw UsageError("--\(given.0) lets in to a server; say which: --server URL") }
      return .home
    }
    let url = try ServerAddress.url(text, isOption: options.server != nil)
    guard let api = options.apiToken ?? variable(Variable.apiToken) else {
      throw UsageError(
        "the API token is missing; set \(Variable.apiToken) to what cloudsync serve printed, or "
          + "give --api-token")
    }
    let credential: WebAddress.Credential
    switch (options.controlToken, options.webToken) {
    case (_?, _?): throw UsageError("give --web-token or --control-token, not both")
    case (let token?, nil): credential = .controlToken(try .checked(token, "control token"))
    case (nil, let token?): credential = .webToken(try .checked(token, "web token"))
    case (nil, nil):
      if let token = variable(Variable.controlToken) {
        credential = .controlToken(try .checked(token, "control token"))
      } else if let token = variable(Variable.webToken) {
        credential = .webToken(try .checked(token, "web token"))
      } else {
        throw UsageError(
          "what stands for the account is missing; set \(Variable.webToken) or "
            + "\(Variable.controlToken), or give --web-token or --control-token")
      }
    }
    return .web(
      WebAddress(
        url: url, apiToken: try .checked(api, "API token"), credential: credential,
        account: variable(Variable.account), onlyContainer: variable(Variable.container)))
  }

  /// The account a new device signs in as when the command line names none.
  var defaultAccount: String {
    if case .web(let address) = self, let account = address.account { account } else { "default" }
  }

  private static func url(_ text: String, isOption: Bool) throws(UsageError) -> URL {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host?.isEmpty == false
    else {
      throw UsageError(
        "\(isOption ? "" : "\(Variable.server) is ")\(quoted(text))\(isOption ? " is" : ",") "
          + "no address of a server; it starts with http://")
    }
    return url
  }
}

extension String {
  /// A token that can go into a request's head.
  fileprivate static func checked(
    _ token: String, _ what: String
  ) throws(UsageError) -> String {
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError("the \(what) is ASCII without blanks")
    }
    return token
  }
}

/// A server by HTTP, and what lets in there.
struct WebAddress: Hashable, Sendable {
  /// What stands for the person.
  enum Credential: Hashable, Sendable {
    /// Signs any account in; a loopback server has it.
    case controlToken(String)
    /// Stands for one account.
    case webToken(String)
  }

  var url: URL
  var apiToken: String
  var credential: Credential
  /// The account a new device signs in as when the command line names none.
  var account: String?
  /// The one container the tokens are good for; `nil` for all.
  var onlyContainer: String?

  /// The way to the server's control interface, for whom has its token.
  var control: Control? {
    if case .controlToken(let token) = credential { Control(url: url, token: token) } else { nil }
  }

  /// A name for what this server holds, the same after it was started again with its file.
  ///
  /// The API token comes from the server's content, unlike its address: another server that gets
  /// the same port has other devices.
  var folderName: String {
    var hash = SHA256()
    hash.update(Array(apiToken.utf8))
    hash.update(Array((onlyContainer ?? "").utf8))
    let digits = Array("0123456789abcdef")
    return String(hash.digest().prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}

/// The environment variables that name a server, as `cloudsync exec` sets them.
enum Variable {
  static let server = "CLOUDSYNC_SERVER"
  static let apiToken = "CLOUDSYNC_API_TOKEN"
  static let webToken = "CLOUDSYNC_WEB_AUTH_TOKEN"
  static let controlToken = "CLOUDSYNC_CONTROL_TOKEN"
  static let account = "CLOUDSYNC_ACCOUNT"
  static let container = "CLOUDSYNC_CONTAINER"
}
