import CommandLineKit
import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The spike on a socket: one thread that takes one connection, and then its requests in turn.
final class SpikeSocket: Sendable {
  let port: Int
  private let listener: Int32

  /// Serves `makeServer()` until its one client is gone.
  init(_ makeServer: @escaping @Sendable () throws -> SpikeServer) throws {
    let (listener, port) = try SpikeSocket.listen()
    self.listener = listener
    self.port = port
    Thread.detachNewThread {
      let connection = accept(listener, nil, nil)
      defer { close(connection) }
      guard connection >= 0, let server = try? makeServer() else { return }
      var one: Int32 = 1
      setsockopt(
        connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      var message = RawMessage(connection)
      while (try? message.read()) == true {
        guard let answer = try? SpikeSocket.answer(message, server) else { return }
        let head = "HTTP/1.1 200 OK\r\ncontent-length: \(answer.count)\r\n\r\n"
        guard RawMessage.write(Array(head.utf8) + answer, to: connection) else { return }
      }
    }
  }

  deinit { close(listener) }

  /// A port that was free just now.
  static func freePort() throws -> Int {
    let (listener, port) = try listen()
    close(listener)
    return port
  }

  private static func listen() throws -> (listener: Int32, port: Int) {
    #if canImport(Glibc)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && beginListening(listener)
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard result else { throw ToolError("the spike has no port") }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
  }

  private static func answer(_ message: RawMessage, _ server: SpikeServer) throws -> [UInt8] {
    let body = Array(message.body)
    if message.head.starts(with: "POST /push".utf8) { return try server.push(body) }
    return try server.pull(after: Int(String(decoding: body, as: UTF8.self)) ?? 0)
  }
}

/// Reads one HTTP message after the other from a socket, by their `content-length`.
struct RawMessage {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var headEnd = 0
  private var end = 0

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  var head: ArraySlice<UInt8> { buffer[..<headEnd] }
  var body: ArraySlice<UInt8> { buffer[headEnd..<end] }

  /// The number in the first line of an answer.
  var status: Int { end < 12 ? 0 : Int(String(decoding: buffer[9..<12], as: UTF8.self)) ?? 0 }

  /// Reads the next message; false when there is none any more.
  mutating func read() throws -> Bool {
    var count = 0
    headEnd = 0
    end = .max
    while count < end {
      if count == buffer.count {
        buffer.append(contentsOf: repeatElement(0, count: buffer.count))
      }
      let read = buffer.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count, 0)
      }
      guard read > 0 else {
        end = headEnd
        guard count == 0 else { throw ToolError("a connection ended in a message") }
        return false
      }
      count += read
      if headEnd == 0 { try findEnd(count) }
    }
    return true
  }

  private mutating func findEnd(_ count: Int) throws {
    guard count >= 4 else { return }
    for index in 0...(count - 4)
    where buffer[index] == 13 && buffer[index + 1] == 10 && buffer[index + 2] == 13
      && buffer[index + 3] == 10
    {
      headEnd = index + 4
      let text = String(decoding: head, as: UTF8.self).lowercased()
      guard let field = text.range(of: "content-length: "),
        let body = Int(text[field.upperBound...].prefix { $0.isNumber })
      else { throw ToolError("a message does not say how long it is") }
      end = headEnd + body
      return
    }
  }

  #if canImport(Darwin)
    private static let noSignal: Int32 = 0
  #else
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #endif

  /// Sends all of `bytes`; false when the other side is gone.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, noSignal)
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}

private func beginListening(_ descriptor: Int32) -> Bool { listen(descriptor, 4) == 0 }
