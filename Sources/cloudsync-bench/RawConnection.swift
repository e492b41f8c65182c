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
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Connects to `port` on 127.0.0.1.
  init(port: Int) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
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

  /// Sends a request and reads its answer, which says how long it is; the answer's status.
  func ask(_ request: [UInt8]) throws -> Int {
    guard send(descriptor, request, request.count, 0) == request.count else {
      throw ToolError("a request could not be sent")
    }
    var count = 0
    var wanted = Int.max
    while count < wanted {
      let read = buffer.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count, 0)
      }
      guard read > 0 else { throw ToolError("a connection ended") }
      count += read
      if wanted == .max { wanted = try length(of: buffer[..<count]) ?? .max }
    }
    return Int(String(decoding: buffer[9..<12], as: UTF8.self)) ?? 0
  }

  /// How long the whole answer is, once its header is there.
  private func length(of bytes: ArraySlice<UInt8>) throws -> Int? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let header = text[..<end.lowerBound].lowercased()
    guard let field = header.range(of: "content-length: "),
      let body = Int(header[field.upperBound...].prefix { $0.isNumber })
    else { throw ToolError("an answer does not say how long it is") }
    return text[..<end.upperBound].utf8.count + body
  }
}
