import Foundation

// Platform differences, and system calls that have the names of methods.
extension HTTPSocket {
  /// The type of a socket for TCP.
  static var streamType: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      Int32(SOCK_STREAM)
    #endif
  }

  /// Creates a socket for TCP over IPv4 or IPv6.
  static func makeSocket(_ family: Int32) -> Int32 { socket(family, streamType, 0) }

  /// Sends bytes to a socket.
  static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Foundation.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
      Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// Writes bytes to a descriptor that is not a socket.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    Foundation.write(descriptor, bytes.baseAddress, bytes.count)
  }

  /// Reads bytes from a descriptor that is not a socket.
  static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    Foundation.read(descriptor, buffer.baseAddress, buffer.count)
  }

  /// Makes a descriptor non-blocking, close-on-exec and free of SIGPIPE; `false` with `errno` set
  /// on failure.
  static func configure(_ descriptor: Int32, isSocket: Bool = true) -> Bool {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { return false }
    #if canImport(Darwin)
      return !isSocket || set(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
    #else
      return true
    #endif
  }

  /// Sets a socket option; `false` with `errno` set on failure.
  static func set(
    _ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1
  ) -> Bool {
    var value = value
    return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// An error with the system's message.
  static func failure(_ what: String, _ error: Int32) -> HTTPServerError {
    HTTPServerError("\(what): \(String(cString: strerror(error)))")
  }
}
