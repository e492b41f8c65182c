#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Socket system calls with their errors as enum cases.
enum HTTPSocket {
  /// The result of a read or write.
  enum Transfer {
    /// The number of transferred bytes, at least one.
    case bytes(Int)
    /// The call would block.
    case blocked
    /// The end of input.
    case end
    /// The connection is broken.
    case failed
  }

  /// The result of accepting a connection.
  enum Acceptance {
    /// A connection, with its descriptor.
    case connection(Int32)
    /// No connection is pending.
    case blocked
    /// A connection was closed before it was accepted.
    case gone
    /// The process or the system is out of descriptors or memory.
    case exhausted
  }

  /// Listens on 127.0.0.1; returns the descriptor and the port.
  static func listen(port: Int) throws(HTTPServerError) -> (descriptor: Int32, port: Int) {
    guard let number = UInt16(exactly: port) else {
      throw HTTPServerError("\(port) is not a valid port: use 1 to 65535, or 0 for any free port")
    }
    let descriptor = makeSocket()
    guard descriptor >= 0 else { throw failure("cannot create a socket", errno) }
    guard configure(descriptor), set(descriptor, SOL_SOCKET, SO_REUSEADDR) else {
      let error = errno
      _ = close(descriptor)
      throw failure("cannot configure the listening socket", error)
    }
    var address = loopback(number)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let error = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
        guard bind(descriptor, pointer, length) == 0, systemListen(descriptor) == 0,
          getsockname(descriptor, pointer, &length) == 0
        else { return errno }
        return 0
      }
    }
    guard error == 0 else {
      _ = close(descriptor)
      switch error {
      case EADDRINUSE:
        throw HTTPServerError(
          "port \(port) of 127.0.0.1 is in use: stop the program that uses it, choose "
            + "another port, or use 0 for any free port")
      case EACCES, EPERM:
        throw HTTPServerError(
          "port \(port) of 127.0.0.1 requires more privileges: choose one above 1023, or use "
            + "0 for any free port")
      default: throw failure("port \(port) of 127.0.0.1 cannot be used", error)
      }
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Accepts the next pending connection; its socket is non-blocking and close-on-exec.
  static func accept(_ listener: Int32) -> Acceptance {
    let descriptor = systemAccept(listener)
    if descriptor >= 0 {
      guard configure(descriptor) else {
        _ = close(descriptor)
        return .gone
      }
      _ = set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
      return .connection(descriptor)
    }
    switch errno {
    case EAGAIN, EWOULDBLOCK: return .blocked
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
    default: return .gone
    }
  }

  /// Reads the available bytes into `buffer`.
  static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK: return .blocked
      default: return .failed
      }
    }
  }

  /// Writes as many bytes as the socket accepts; a broken connection raises no signal.
  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    while true {
      let count = sendBytes(descriptor, bytes)
      if count >= 0 { return .bytes(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK, ENOBUFS: return .blocked
      default: return .failed
      }
    }
  }

  /// Whether the client has closed its side of the connection, even with input unread; always
  /// `false` on systems that cannot detect it without reading.
  static func hasEndedSide(_ descriptor: Int32) -> Bool {
    #if os(Linux)
      // POLLRDHUP, which the headers declare only with the system's extensions enabled.
      let end: Int16 = 0x2000
      var entry = pollfd(fd: descriptor, events: end, revents: 0)
      return poll(&entry, 1, 0) > 0 && entry.revents & end != 0
    #else
      return false
    #endif
  }

  /// Whether the connection is broken, for example by a reset; reported once.
  static func isBroken(_ descriptor: Int32) -> Bool {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0
  }

  /// Creates a non-blocking pipe; `nil` if no descriptors are free.
  static func makeWakePipe() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    guard configure(ends[0], isSocket: false), configure(ends[1], isSocket: false) else {
      for end in ends { release(end) }
      return nil
    }
    return (ends[0], ends[1])
  }

  /// Closes the sending side of a connection.
  static func endWriting(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes the descriptor.
  static func release(_ descriptor: Int32) { _ = close(descriptor) }
}
