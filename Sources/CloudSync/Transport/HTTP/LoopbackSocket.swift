#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's calls on a connection to this machine; each blocks its thread, for a while at most.
enum LoopbackSocket {
  /// How waiting for a connection, reading or writing ended.
  enum Outcome: Equatable {
    /// So many bytes; 0 where an answer waits to be read before all is written.
    case bytes(Int)
    /// The server sends nothing more.
    case end
    /// Nothing happened for as long as one waits.
    case late
    /// The connection is broken, or there is none.
    case failed
  }

  /// Connects to a place; `nil` when nobody listens there.
  static func connect(to address: LoopbackAddress, patience: Int32) -> Int32? {
    let family = address.host == nil ? AF_INET6 : AF_INET
    #if canImport(Glibc)
      let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(family, Int32(SOCK_STREAM), 0)
    #endif
    guard descriptor >= 0 else { return nil }
    guard prepare(descriptor), begin(descriptor, address),
      wait(descriptor, Int16(POLLOUT), patience) != nil, hasNoError(descriptor)
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Writes what is taken, after waiting until anything is.
  static func send(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, patience: Int32
  ) -> Outcome {
    while true {
      #if canImport(Darwin)
        let count = Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
      #elseif canImport(Glibc)
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      #else
        let count = Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      #endif
      if count >= 0 { return .bytes(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK:
        guard let events = wait(descriptor, Int16(POLLOUT | POLLIN), patience) else {
          return .late
        }
        if events & Int16(POLLIN) != 0 { return .bytes(0) }
      default: return .failed
      }
    }
  }

  /// Reads what is there, after waiting until anything is.
  static func receive(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, patience: Int32
  ) -> Outcome {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK:
        guard wait(descriptor, Int16(POLLIN), patience) != nil else { return .late }
      default: return .failed
      }
    }
  }

  /// Whether anything came, or the other side is gone, while nothing was asked.
  static func isStale(_ descriptor: Int32) -> Bool { wait(descriptor, Int16(POLLIN), 0) != nil }

  /// Ends a connection that a thread may be waiting on; the descriptor stays.
  static func interrupt(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Gives the descriptor back.
  static func release(_ descriptor: Int32) { close(descriptor) }

  /// What happened within `patience` milliseconds; `nil` when nothing did.
  private static func wait(_ descriptor: Int32, _ events: Int16, _ patience: Int32) -> Int16? {
    var entry = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
      let count = poll(&entry, 1, patience)
      if count > 0 { return entry.revents }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  /// Makes a socket block nobody, send at once, be closed on exec and raise no signal.
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
    guard let bytes = address.host else { return beginSix(descriptor, address.port) }
    var place = sockaddr_in()
    #if canImport(Darwin)
      place.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = address.port.bigEndian
    place.sin_addr.s_addr = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
    return withUnsafePointer(to: &place) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        begin(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private static func beginSix(_ descriptor: Int32, _ port: UInt16) -> Bool {
    var place = sockaddr_in6()
    #if canImport(Darwin)
      place.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
    #endif
    place.sin6_family = sa_family_t(AF_INET6)
    place.sin6_port = port.bigEndian
    place.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &place) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        begin(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }

  private static func begin(
    _ descriptor: Int32, _ place: UnsafePointer<sockaddr>, _ length: socklen_t
  ) -> Bool {
    #if canImport(Darwin)
      let result = Darwin.connect(descriptor, place, length)
    #elseif canImport(Glibc)
      let result = Glibc.connect(descriptor, place, length)
    #else
      let result = Musl.connect(descriptor, place, length)
    #endif
    return result == 0 || errno == EINPROGRESS || errno == EINTR
  }

  private static func hasNoError(_ descriptor: Int32) -> Bool {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
  }
}
