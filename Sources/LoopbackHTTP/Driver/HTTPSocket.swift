import Foundation

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

  /// The maximum number of connections that wait to be accepted.
  static let backlog = SOMAXCONN

  /// Listens on an address of this machine; returns the descriptor and the port.
  ///
  /// - Parameter host: an IPv4 or IPv6 address, or a name; of several addresses the first is used.
  static func listen(
    host: String, port: Int
  ) throws(HTTPServerError) -> (descriptor: Int32, port: Int) {
    guard let number = UInt16(exactly: port) else {
      throw HTTPServerError("\(port) is not a valid port: use 1 to 65535, or 0 for any free port")
    }
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = streamType
    var list: UnsafeMutablePointer<addrinfo>?
    // Some versions of macOS crash on "0" with `AI_NUMERICSERV`.
    let status = getaddrinfo(host, number == 0 ? "00" : "\(number)", &hints, &list)
    guard status == 0, let list else {
      throw HTTPServerError(
        "\(host) is not an address of this machine: \(String(cString: gai_strerror(status)))",
        isOfHost: true)
    }
    defer { freeaddrinfo(list) }
    let descriptor = makeSocket(list.pointee.ai_family)
    guard descriptor >= 0 else { throw failure("cannot create a socket", errno) }
    guard configure(descriptor), set(descriptor, SOL_SOCKET, SO_REUSEADDR),
      // One socket for all addresses: `::` also receives what is sent to IPv4 addresses.
      list.pointee.ai_family != AF_INET6
        || set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 0)
    else {
      let error = errno
      release(descriptor)
      throw failure("cannot configure the listening socket", error)
    }
    guard bind(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0,
      Foundation.listen(descriptor, backlog) == 0, let bound = address(descriptor, getsockname)
    else {
      let error = errno
      release(descriptor)
      throw failure(host, port, error)
    }
    return (descriptor, bound.port)
  }

  private static func failure(_ host: String, _ port: Int, _ error: Int32) -> HTTPServerError {
    switch error {
    case EADDRINUSE:
      HTTPServerError(
        "port \(port) of \(host) is in use: stop the program that uses it, choose "
          + "another port, or use 0 for any free port")
    case EACCES, EPERM:
      HTTPServerError(
        "port \(port) of \(host) requires more privileges: choose one above 1023, or use "
          + "0 for any free port")
    case EADDRNOTAVAIL:
      HTTPServerError(
        "\(host) is not an address of this machine; 0.0.0.0 stands for all of them", isOfHost: true)
    default: failure("port \(port) of \(host) cannot be used", error)
    }
  }

  /// The address of the other side of a connection; `nil` if it is closed already.
  static func peer(_ descriptor: Int32) -> [UInt8]? { address(descriptor, getpeername)?.bytes }

  /// An address of a socket: 4 bytes of IPv4, or 16 of IPv6, and the port.
  private static func address(
    _ descriptor: Int32,
    _ read: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> (bytes: [UInt8], port: Int)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      let isRead = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        read(descriptor, $0, &length) == 0
      }
      guard isRead else { return nil }
      switch Int32(pointer.pointee.ss_family) {
      case AF_INET:
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          (
            withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) },
            Int(UInt16(bigEndian: address.pointee.sin_port))
          )
        }
      case AF_INET6:
        return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          (
            withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) },
            Int(UInt16(bigEndian: address.pointee.sin6_port))
          )
        }
      default: return nil
      }
    }
  }

  /// Accepts the next pending connection; its socket is non-blocking and close-on-exec.
  static func accept(_ listener: Int32) -> Acceptance {
    let descriptor = Foundation.accept(listener, nil, nil)
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
