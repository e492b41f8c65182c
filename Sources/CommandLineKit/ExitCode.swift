/// The exit codes of the tools, which tell a script what kind of failure it was.
///
/// They are those of `sysexits.h`, and 1 for everything else.
package enum ExitCode {
  /// A failure of no other kind.
  package static let failure: CInt = 1
  /// The command line is invalid.
  package static let usage: CInt = 64
  /// The input is damaged, or not of the expected format.
  package static let data: CInt = 65
  /// An input file can't be read.
  package static let noInput: CInt = 66
  /// A name on the command line is unknown.
  package static let unknownName: CInt = 67
  /// The server can't be reached.
  package static let unavailable: CInt = 69
  /// A file can't be written.
  package static let cannotCreate: CInt = 73
  /// The server refuses the account or the token.
  package static let noPermission: CInt = 77

  /// The meaning of each code in words for users, in the order of their numbers.
  package static let meanings: [(code: CInt, meaning: String)] = [
    (0, "success"),
    (failure, "a failure of no other kind"),
    (usage, "the command line, or a file of options or faults, is invalid"),
    (data, "the input is damaged, or not of the expected format"),
    (noInput, "an input file is missing or can't be read"),
    (unknownName, "an account, a database, a zone or an item does not exist"),
    (unavailable, "the server can't be reached, or its port can't be used"),
    (cannotCreate, "a file can't be written"),
    (
      noPermission,
      "no account is signed in, a token is wrong, or the server refuses the action"
    ),
  ]
}
