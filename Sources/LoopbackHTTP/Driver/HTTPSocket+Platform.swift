#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// What differs between the systems, and what would hide behind a name of `HTTPSocket`.
extension HTTPSocket {
  /// A socket for TCP over IPv4.
  static func makeSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
  }

  /// Begins to take connections; as many wait as the system allows.
  static func startListening(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.listen(descriptor, SOMAXCONN)
    #elseif canImport(Glibc)
      Glibc.listen(descriptor, SOMAXCONN)
    #else
      Musl.listen(descriptor, SOMAXCONN)
    #endif
  }

  /// The next connection that waits.
  static func acceptConnection(_ listener: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.accept(listener, nil, nil)
    #elseif canImport(Glibc)
      Glibc.accept(listener, nil, nil)
    #else
      Musl.accept(listener, nil, nil)
    #endif
  }

  /// One call that writes.
  static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #elseif canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// One call that writes to what is no socket.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }

  /// One call that reads from what is no socket.
  static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #else
      Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }

  /// Makes a socket block nobody, be closed on exec and raise no signal; `false` with `errno` set.
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

  /// Sets an option of a socket; `false` with `errno` set.
  static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Bool {
    var one: Int32 = 1
    return setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// 127.0.0.1 with a port.
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

  /// An error with the system's own words.
  static func failure(_ what: String, _ error: Int32) -> HTTPServerError {
    HTTPServerError("\(what): \(String(cString: strerror(error)))")
  }
}
