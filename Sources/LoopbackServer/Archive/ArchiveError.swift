/// The error of an archive line that cannot be read; the line number is added by the caller.
struct ArchiveError: Error {
  /// The error message, without any content of the line.
  var reason: String

  init(_ reason: String) { self.reason = reason }
}
