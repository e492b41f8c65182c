/// Why a line of an archive can't be read; the line's number is added where it is known.
struct ArchiveFault: Error {
  /// What is wrong, without any of the line's content.
  var reason: String

  init(_ reason: String) { self.reason = reason }
}
