import CommandLineKit
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection to a server on this machine that asks and waits, with nothing in between.
///
/// Belongs to one thread.
final class RawConnection {
  private let descriptor: Int32
  private var message: RawMessage

  /// Connects to `port` on 127.0.0.1.
  init(port: Int) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
    message = RawMessage(descriptor)
    var one: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw ToolError("can't connect to port \(port)") }
  }

  deinit { close(descriptor) }

  /// Sends a request and reads its answer; the answer's status.
  func ask(_ request: [UInt8]) throws -> Int {
    guard RawMessage.write(request, to: descriptor), try message.read() else {
      throw ToolError("a connection ended")
    }
    return message.status
  }

  /// Posts a body and answers the body that comes back.
  func post(_ path: String, _ body: [UInt8]) throws -> [UInt8] {
    let head = "POST \(path) HTTP/1.1\r\nhost: localhost\r\ncontent-length: \(body.count)\r\n\r\n"
    guard try ask(Array(head.utf8) + body) == 200 else { throw ToolError("\(path) was refused") }
    return Array(message.body)
  }
}
