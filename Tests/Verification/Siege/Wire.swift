#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection to the server on this machine; it belongs to one thread and blocks nobody.
final class Wire {
  /// What reading found.
  enum Reading {
    case bytes
    case nothing
    case end
    case broken
  }

  let descriptor: Int32
  private var isOpen = true

  /// Connects to `port` of 127.0.0.1; a small `receiveBuffer` makes a reader that soon is full.
  init(port: Int, receiveBuffer: Int32? = nil) throws(SiegeFault) {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
    guard descriptor >= 0 else { throw SiegeFault("no socket can be made: \(Wire.reason)") }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var one: Int32 = 1
    let length = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, length)
    #if canImport(Darwin)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, length)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let reason = Wire.reason
      close()
      throw SiegeFault("the server can't be reached: \(reason)")
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit { close() }

  private static var reason: String { String(cString: strerror(errno)) }

  /// Closes it, with an end as the other side expects it unless something was not read.
  func close() {
    guard isOpen else { return }
    isOpen = false
    _ = Wire.closeDescriptor(descriptor)
  }

  /// Closes it with a reset.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// Takes more at once from now on.
  func widen() {
    var size: Int32 = 1 << 20
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Says that nothing more will be sent.
  func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends what is taken now; `nil` when the connection is broken.
  func send(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { Wire.sendBytes(descriptor, $0) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : nil
  }

  /// Reads once, what there is, to the end of `bytes`.
  func receive(into bytes: inout [UInt8], atMost most: Int = 65536) -> Reading {
    let count = withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { buffer in
      let count = recv(descriptor, buffer.baseAddress, most, 0)
      if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) }
      return count
    }
    if count > 0 { return .bytes }
    if count == 0 { return .end }
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? .nothing : .broken
  }

  /// Waits until something can be read, or written if that is wanted too; `false` after so long.
  func wait(writing: Bool, milliseconds: Int32) -> Bool {
    var entry = pollfd(
      fd: descriptor, events: Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }

  private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Musl.close(descriptor)
    #endif
  }

  private static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #elseif canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }
}

/// Why a siege can't go on.
struct SiegeFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
