#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

// Platform differences, and system calls that have the names of methods.
extension HTTPSocket {
  /// Creates a socket for TCP over IPv4.
  static func makeSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
  }

  /// Sends bytes to a socket.
  static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      systemSend(descriptor, bytes, 0)
    #else
      systemSend(descriptor, bytes, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// Writes bytes to a descriptor that is not a socket.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    systemWrite(descriptor, bytes)
  }

  /// Reads bytes from a descriptor that is not a socket.
  static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    systemRead(descriptor, buffer)
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
  static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Bool {
    var one: Int32 = 1
    return setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// The socket address of 127.0.0.1 and a port.
  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    #if canImport(Darwin)
      address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// An error with the system's message.
  static func failure(_ what: String, _ error: Int32) -> HTTPServerError {
    HTTPServerError("\(what): \(String(cString: strerror(error)))")
  }
}

/// Starts listening with the maximum backlog of the system.
func systemListen(_ descriptor: Int32) -> Int32 { listen(descriptor, SOMAXCONN) }

/// Accepts the next pending connection.
func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

private func systemSend(
  _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32
) -> Int {
  send(descriptor, bytes.baseAddress, bytes.count, flags)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}
