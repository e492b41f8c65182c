import CommandLineKit
import Foundation

extension WebAddress {
  /// The HTTP server named by the command line, else by the environment; `nil` for the home's own.
  ///
  /// - Throws: `UsageError` for an address or a token that is invalid or missing.
  init?(_ options: GlobalOptions, _ environment: [String: String]) throws(UsageError) {
    do throws(UsageError) {
      guard let address = try Self.named(options, environment) else { return nil }
      self = address
    } catch {
      throw UsageError(error.description, topic: "server")
    }
  }

  private static func named(
    _ options: GlobalOptions, _ environment: [String: String]
  ) throws(UsageError) -> WebAddress? {
    func variable(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    guard let text = options["server"] ?? variable(Variable.server) else {
      let tokens = ["api-token", "web-token", "control-token"]
      if let token = tokens.first(where: { options[$0] != nil }) {
        throw UsageError("--\(token) needs a server; give --server URL")
      }
      return nil
    }
    let url = try Self.url(text, isOption: options["server"] != nil)
    let given = options["api-token"] ?? variable(Variable.apiToken)
    guard let api = try token(given, "API token") else {
      throw UsageError(
        "the API token is missing; set \(Variable.apiToken) to what cloudsync serve printed, or "
          + "give --api-token")
    }
    var (control, web) = (options["control-token"], options["web-token"])
    if control != nil, web != nil {
      throw UsageError("give --web-token or --control-token, not both")
    }
    if control == nil, web == nil {
      (control, web) = (variable(Variable.controlToken), variable(Variable.webToken))
    }
    if control == nil, web == nil {
      throw UsageError(
        "the token of the account is missing; set \(Variable.webToken) or "
          + "\(Variable.controlToken), or give --web-token or --control-token")
    }
    return WebAddress(
      url: url, apiToken: api, controlToken: try token(control, "control token"),
      webToken: try token(web, "web token"),
      account: variable(Variable.account), onlyContainer: variable(Variable.container))
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

  /// A token that can be sent in a header, if it is given.
  private static func token(_ text: String?, _ what: String) throws(UsageError) -> String? {
    guard let text else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError("the \(what) is ASCII without blanks")
    }
    return text
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
