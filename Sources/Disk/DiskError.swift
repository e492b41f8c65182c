#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The error of a file operation: the system's error number.
package struct DiskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number, as in `errno`.
  package let number: Int32

  /// Wraps a number.
  package init(number: Int32) { self.number = number }

  /// There is no file of that name.
  package static let notFound = DiskError(number: ENOENT)
  /// The disk failed.
  package static let failed = DiskError(number: EIO)
  /// The process has no permission.
  package static let denied = DiskError(number: EACCES)
  /// The disk is full.
  package static let full = DiskError(number: ENOSPC)
  /// The file would exceed the maximum size.
  package static let tooLarge = DiskError(number: EFBIG)
  /// The lock is held elsewhere.
  package static let locked = DiskError(number: EWOULDBLOCK)
  /// The arguments are invalid.
  package static let invalid = DiskError(number: EINVAL)

  /// Whether the process has no permission, or the volume is read-only.
  package var isOfPermission: Bool { [EACCES, EPERM, EROFS].contains(number) }

  /// The system's description of the error.
  package var description: String { String(cString: strerror(number)) }
}
