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
  /// An input file is missing or can't be read.
  package static let noInput: CInt = 66
  /// What the command line names does not exist: an account, a database, a zone or an item.
  package static let unknownName: CInt = 67
  /// The server can't be reached.
  package static let unavailable: CInt = 69
  /// A file can't be written.
  package static let cannotCreate: CInt = 73
  /// The server does not allow it: no account is signed in, or a token is wrong.
  package static let noPermission: CInt = 77
}
