import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A client with a socket that blocks.
///
/// It has a queue of its own, so that waiting for the server takes no thread from the tasks of
/// the server's handlers. What never comes is given up after twenty seconds.
actor TestClient {
  /// One response of the server.
  struct Answer: Equatable {
    var status: Int
    /// The header, in the order sent, as lines.
    var lines: [String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var closes: Bool { lines.contains("connection: close") }
    var length: Int? {
      lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
    }
  }

  /// The end of the server's bytes.
  enum End: Error, Equatable {
    case closed
    case reset
    case timedOut
    case isNoAnswer
    case refused
  }

  private final class Queue: SerialExecutor {
    let queue = DispatchQueue(label: "TestClient")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let executor = UnownedSerialExecutor(ordinary: self)
      queue.async { job.runSynchronously(on: executor) }
    }
  }

  private nonisolated let queue = Queue()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: queue)
  }

  private let descriptor: Int32
  private var isOpen = true
  private var unread: [UInt8] = []

  /// Connects to the server on this machine.
  init(port: Int, address host: UInt32 = 0x7F00_0001, receiveBuffer: Int32? = nil) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
    var size = receiveBuffer ?? 0
    if receiveBuffer != nil {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var one: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    // Only a fault takes that long, on however busy a machine.
    var patience = timeval(tv_sec: 120, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = host.bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // The end of what could not be made closes the socket.
    guard result == 0 else { throw End.refused }
  }

  deinit { if isOpen { _ = Self.closeSocket(descriptor) } }

  private static func closeSocket(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Musl.close(descriptor)
    #endif
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    _ = Self.closeSocket(descriptor)
  }

  /// Says that nothing more will be sent.
  func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends everything, in pieces of so many bytes; `false` when the server has ended.
  @discardableResult
  func send(_ bytes: [UInt8], pieces: Int = .max) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
    var sent = 0
    while sent < bytes.count {
      let most = min(pieces, bytes.count - sent)
      let count = bytes.withUnsafeBytes { sendBytes($0[sent..<(sent + most)], flags) }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private func sendBytes(_ bytes: Slice<UnsafeRawBufferPointer>, _ flags: Int32) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    #if canImport(Darwin)
      return Darwin.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #elseif canImport(Glibc)
      return Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #else
      return Musl.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #endif
  }

  /// Sends text.
  @discardableResult
  func send(_ text: String, pieces: Int = .max) -> Bool { send(Array(text.utf8), pieces: pieces) }

  /// Sends a request and returns its answer.
  func ask(_ text: String, method: String = "GET") throws -> Answer {
    guard send(text) else { throw End.reset }
    return try answer(to: method)
  }

  /// Waits for the first bytes of an answer, which `answer(to:)` returns, too.
  func waitForBytes() throws { try readMore() }

  private func readMore() throws {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count <= 0 else {
      unread += buffer.prefix(count)
      return
    }
    if count == 0 { throw End.closed }
    throw errno == EAGAIN || errno == EWOULDBLOCK ? End.timedOut : End.reset
  }

  /// The next answer; to `HEAD` it has no body, whatever its length says.
  func answer(to method: String = "GET") throws -> Answer {
    let gap = Array("\r\n\r\n".utf8)
    while true {
      if let range = unread.firstRange(of: gap) {
        let lines = String(decoding: unread[..<range.lowerBound], as: UTF8.self)
          .split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
          throw End.isNoAnswer
        }
        var answer = Answer(status: status, lines: Array(lines.dropFirst()), body: [])
        let length = method == "HEAD" ? 0 : answer.length ?? 0
        while unread.count < range.upperBound + length { try readMore() }
        answer.body = Array(unread[range.upperBound..<(range.upperBound + length)])
        unread.removeFirst(range.upperBound + length)
        return answer
      }
      try readMore()
    }
  }

  /// Waits for the end of the connection; more answers than those read are a fault.
  func end() -> End {
    do {
      guard unread.isEmpty else { return .isNoAnswer }
      try readMore()
      return .isNoAnswer
    } catch let end as End {
      return end
    } catch {
      return .isNoAnswer
    }
  }
}
