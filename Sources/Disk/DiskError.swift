#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Why a call on files failed: the system's number for it.
package struct DiskError: Error, Hashable, Sendable {
  /// The number, as in `errno`.
  package let number: Int32

  /// Wraps a number.
  package init(number: Int32) { self.number = number }

  /// No file of that name.
  package static let notFound = DiskError(number: ENOENT)
  /// The disk failed.
  package static let failed = DiskError(number: EIO)
  /// The disk is full.
  package static let full = DiskError(number: ENOSPC)
  /// The file would get larger than it may.
  package static let tooLarge = DiskError(number: EFBIG)
  /// The process has too many files open.
  package static let tooManyFiles = DiskError(number: EMFILE)
  /// Somebody else holds the lock.
  package static let locked = DiskError(number: EWOULDBLOCK)
  /// A call that was made in a way it can't be.
  package static let invalid = DiskError(number: EINVAL)
}

extension DiskError: CustomStringConvertible {
  /// The system's words for it.
  package var description: String { String(cString: strerror(number)) }
}
