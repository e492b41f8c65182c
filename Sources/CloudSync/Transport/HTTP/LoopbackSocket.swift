#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Blocking socket calls with a timeout, for connections to this machine.
enum LoopbackSocket {
  /// The result of connecting, reading or writing.
  enum Outcome: Equatable {
    /// The number of bytes transferred; 0 when a response can be read before everything was
    /// written.
    case bytes(Int)
    /// The server closed its side.
    case end
    /// Nothing happened within the timeout.
    case timedOut
    /// The connection failed.
    case failed
  }

  /// Connects to `address`; returns `nil` when no server listens there.
  static func connect(to address: LoopbackAddress, timeout: Int32) -> Int32? {
    let family = address.host == nil ? AF_INET6 : AF_INET
    #if canImport(Glibc)
      let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(family, Int32(SOCK_STREAM), 0)
    #endif
    guard descriptor >= 0 else { return nil }
    guard prepare(descriptor), begin(descriptor, address),
      wait(descriptor, Int16(POLLOUT), timeout) != nil, hasNoError(descriptor)
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Waits until the socket is writable and writes as many bytes as it accepts.
  static func send(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, timeout: Int32
  ) -> Outcome {
    while true {
      let count = systemSend(descriptor, bytes)
      if count >= 0 { return .bytes(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK:
        guard let events = wait(descriptor, Int16(POLLOUT | POLLIN), timeout) else {
          return .timedOut
        }
        if events & Int16(POLLIN) != 0 { return .bytes(0) }
      default: return .failed
      }
    }
  }

  /// Waits until the socket is readable and reads the available bytes.
  static func receive(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, timeout: Int32
  ) -> Outcome {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK:
        guard wait(descriptor, Int16(POLLIN), timeout) != nil else { return .timedOut }
      default: return .failed
      }
    }
  }

  /// Whether an idle connection has received bytes or was closed by the server.
  static func isStale(_ descriptor: Int32) -> Bool { wait(descriptor, Int16(POLLIN), 0) != nil }

  /// Shuts down a connection that another thread may be waiting on; the descriptor stays valid.
  static func interrupt(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes the descriptor.
  static func release(_ descriptor: Int32) { close(descriptor) }

  /// The events that occurred within `timeout` milliseconds; `nil` when there were none.
  private static func wait(_ descriptor: Int32, _ events: Int16, _ timeout: Int32) -> Int16? {
    var entry = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
      let count = poll(&entry, 1, timeout)
      if count > 0 { return entry.revents }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  /// Makes a socket non-blocking, without send delay, closed on exec, and free of `SIGPIPE`.
  private static func prepare(_ descriptor: Int32) -> Bool {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { return false }
    #if canImport(Darwin)
      guard set(descriptor, SOL_SOCKET, SO_NOSIGPIPE) else { return false }
    #endif
    return set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Bool {
    var one: Int32 = 1
    return setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  private static func begin(_ descriptor: Int32, _ address: LoopbackAddress) -> Bool {
    guard let bytes = address.host else { return beginIPv6(descriptor, address.port) }
    var socketAddress = sockaddr_in()
    #if canImport(Darwin)
      socketAddress.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    socketAddress.sin_family = sa_family_t(AF_INET)
    socketAddress.sin_port = address.port.bigEndian
    socketAddress.sin_addr.s_addr = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
    return withUnsafePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        begin(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private static func beginIPv6(_ descriptor: Int32, _ port: UInt16) -> Bool {
    var socketAddress = sockaddr_in6()
    #if canImport(Darwin)
      socketAddress.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
    #endif
    socketAddress.sin6_family = sa_family_t(AF_INET6)
    socketAddress.sin6_port = port.bigEndian
    socketAddress.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        begin(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }

  private static func begin(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
  ) -> Bool {
    systemConnect(descriptor, address, length) == 0 || errno == EINPROGRESS || errno == EINTR
  }

  private static func hasNoError(_ descriptor: Int32) -> Bool {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
  }
}

// Functions outside of the type, whose methods have the names of the system calls.
private func systemConnect(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 { connect(descriptor, address, length) }

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  #if canImport(Darwin)
    send(descriptor, bytes.baseAddress, bytes.count, 0)
  #else
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
  #endif
}
