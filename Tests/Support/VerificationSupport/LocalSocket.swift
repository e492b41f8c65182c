package import CommandLineKit
import Foundation

/// One end of a TCP connection on this machine; belongs to one thread at a time.
package final class LocalSocket {
  /// The outcome of a read.
  package enum Reading: Sendable {
    /// Bytes were appended.
    case bytes
    /// No bytes are there, or none came in time.
    case nothing
    /// The other end has ended the connection.
    case end
    /// The connection was reset.
    case broken
  }

  /// The descriptor, for `poll`.
  package let descriptor: Int32
  private var isOpen = true

  #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
  #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif

  private init(_ descriptor: Int32) throws(ToolError) {
    self.descriptor = descriptor
    guard descriptor >= 0 else {
      isOpen = false
      throw ToolError("no socket: \(Self.reason)")
    }
    set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    #if canImport(Darwin)
      set(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
    #endif
  }

  /// Connects to `port`.
  ///
  /// - Parameters:
  ///   - timeout: After how many seconds a read or write gives up; `nil` for a socket that never
  ///     waits.
  ///   - receiveBuffer: The size of the system's buffer in bytes; `nil` for the system's choice.
  package convenience init(
    port: Int, timeout: Int?, receiveBuffer: Int32? = nil
  ) throws(ToolError) {
    try self.init(Self.make())
    if let receiveBuffer { setReceiveBuffer(receiveBuffer) }
    let descriptor = descriptor
    let result = Self.withAddress(port: port) { connect(descriptor, $0, $1) }.result
    guard result == 0 else { throw ToolError("no connection to port \(port): \(Self.reason)") }
    if let timeout {
      var time = timeval()
      time.tv_sec = timeout
      set(SOL_SOCKET, SO_RCVTIMEO, time)
      set(SOL_SOCKET, SO_SNDTIMEO, time)
    } else {
      stopWaiting()
    }
  }

  /// Connects to the socket in the file system at `path`; it never waits.
  package convenience init(path: String) throws(ToolError) {
    try self.init(socket(AF_UNIX, Self.streamType, 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw ToolError("the path of a socket is too long: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = descriptor
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw ToolError("no connection to \(path): \(Self.reason)") }
    stopWaiting()
  }

  /// Has reads and writes return at once.
  package func stopWaiting() {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// A socket that listens on a port of the system's choice.
  ///
  /// - Parameter backlog: The number of connections that may wait to be accepted.
  package static func listener(
    backlog: Int32 = 4
  ) throws(ToolError) -> (socket: LocalSocket, port: Int) {
    let socket = try LocalSocket(make())
    let descriptor = socket.descriptor
    let (result, port) = withAddress(port: 0) { address, length in
      guard bind(descriptor, address, length) == 0, listen(descriptor, backlog) == 0 else {
        return -1
      }
      return getsockname(descriptor, address, &length)
    }
    guard result == 0 else { throw ToolError("no port to listen on: \(reason)") }
    return (socket, port)
  }

  /// The next connection of a listener.
  package func nextConnection() throws(ToolError) -> LocalSocket {
    try LocalSocket(accept(descriptor, nil, nil))
  }

  deinit { end() }

  /// Closes the connection.
  package func end() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
  }

  /// Closes the connection with a reset.
  package func reset() {
    set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    end()
  }

  /// Changes the size of the system's buffer for received bytes.
  package func setReceiveBuffer(_ size: Int32) { set(SOL_SOCKET, SO_RCVBUF, size) }

  /// Tells the other end that nothing more will be sent.
  package func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends as much as the system accepts now; `nil` if the connection is broken.
  package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes {
      send(descriptor, $0.baseAddress, $0.count, Self.sendFlags)
    }
    return count >= 0 ? count : Self.hadToWait ? 0 : nil
  }

  /// Sends all bytes of a socket that waits; whether that succeeded.
  package func writeAll(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let count = write(rest), count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Reads once and appends what came to `bytes`.
  package func read(into bytes: inout [UInt8], atMost most: Int = 1 << 16) -> Reading {
    let count = withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { buffer in
      let count = recv(descriptor, buffer.baseAddress, most, 0)
      if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) }
      return count
    }
    if count > 0 { return .bytes }
    return count == 0 ? .end : Self.hadToWait ? .nothing : .broken
  }

  /// Waits until the socket can be read, or written if `writing`; `false` after the given time.
  package func wait(writing: Bool, milliseconds: Int32) -> Bool {
    var entry = pollfd(
      fd: descriptor, events: Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }

  private static func make() -> Int32 { socket(AF_INET, streamType, 0) }

  #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #else
    private static let streamType = Int32(SOCK_STREAM)
  #endif

  private func set<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, _ value: Value) {
    var value = value
    setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Value>.size))
  }

  /// Calls `body` with an address of this machine; returns its result and the address's port.
  private static func withAddress(
    port: Int, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
  ) -> (result: Int32, port: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
    return (result, Int(UInt16(bigEndian: address.sin_port)))
  }

  private static var hadToWait: Bool {
    errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR
  }

  private static var reason: String { String(cString: strerror(errno)) }
}
