#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's calls on sockets, with their errors as cases.
enum HTTPSocket {
  /// How reading or writing ended.
  enum Transfer {
    /// So many bytes, at least one.
    case bytes(Int)
    /// Nothing can be transferred now.
    case blocked
    /// The client sends nothing more.
    case end
    /// The connection is broken.
    case failed
  }

  /// How accepting ended.
  enum Acceptance {
    /// A connection, with its descriptor.
    case connection(Int32)
    /// None waits.
    case blocked
    /// One was gone before it was accepted.
    case gone
    /// The process or the system has no descriptor or no memory left for one.
    case exhausted
  }

  /// Listens on 127.0.0.1, and says on which port.
  static func listen(port: Int) throws(HTTPServerError) -> (descriptor: Int32, port: Int) {
    guard let number = UInt16(exactly: port) else {
      throw HTTPServerError("\(port) is no port: give one from 1 to 65535, or 0 for any free one")
    }
    let descriptor = makeSocket()
    guard descriptor >= 0 else { throw failure("no socket can be made", errno) }
    guard configure(descriptor), set(descriptor, SOL_SOCKET, SO_REUSEADDR) else {
      let error = errno
      _ = close(descriptor)
      throw failure("the socket to listen on can't be set up", error)
    }
    var address = loopback(number)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let error = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
        guard bind(descriptor, pointer, length) == 0, startListening(descriptor) == 0,
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
          "port \(port) of 127.0.0.1 is in use: stop the program that listens there, choose "
            + "another port, or give 0 for any free one")
      case EACCES, EPERM:
        throw HTTPServerError(
          "port \(port) of 127.0.0.1 may not be used by this user: choose one above 1023, or give "
            + "0 for any free one")
      default: throw failure("port \(port) of 127.0.0.1 can't be listened on", error)
      }
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Takes the next connection that waits; its socket blocks nobody and is closed on exec.
  static func accept(_ listener: Int32) -> Acceptance {
    let descriptor = acceptConnection(listener)
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

  /// Reads what is there, as far as `buffer` reaches.
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

  /// Writes what is taken now; a client that is gone raises no signal.
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

  /// Whether the client has ended its side of the connection, be it that unread bytes are before
  /// its end; always `false` where the system does not say it without reading.
  static func hasEndedSide(_ descriptor: Int32) -> Bool {
    #if os(Linux)
      // POLLRDHUP, which the headers give only to those who ask for the system's extensions.
      let end: Int16 = 0x2000
      var entry = pollfd(fd: descriptor, events: end, revents: 0)
      return poll(&entry, 1, 0) > 0 && entry.revents & end != 0
    #else
      return false
    #endif
  }

  /// Whether the connection is broken, as a reset breaks it; says so once.
  static func isBroken(_ descriptor: Int32) -> Bool {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0
  }

  /// A pipe that blocks nobody; `nil` when there are no descriptors left.
  static func makeBell() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    guard configure(ends[0], isSocket: false), configure(ends[1], isSocket: false) else {
      for end in ends { release(end) }
      return nil
    }
    return (ends[0], ends[1])
  }

  /// Says that nothing more will be sent.
  static func endWriting(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Gives the descriptor back.
  static func release(_ descriptor: Int32) { _ = close(descriptor) }
}
