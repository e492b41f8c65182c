import Foundation
import VerificationSupport

/// The spike on a socket: one thread that accepts one connection and answers its requests in turn.
final class SpikeSocket: Sendable {
  let port: Int

  /// Serves `makeServer()` until its one client has ended the connection.
  init(_ makeServer: @escaping @Sendable () throws -> SpikeServer) throws {
    let (listener, port) = try LocalSocket.listener()
    self.port = port
    let descriptor = Listener(socket: listener)
    Thread.detachNewThread {
      do {
        let client = LocalClient(try descriptor.socket.nextConnection())
        let server = try makeServer()
        while let message = try client.receive() {
          let answer = try SpikeSocket.answer(message, server)
          let head = "HTTP/1.1 200 OK\r\ncontent-length: \(answer.count)\r\n\r\n"
          try client.send(Array(head.utf8) + answer)
        }
      } catch {
        Bench.note("the spike ended: \(error)")
      }
    }
  }

  /// The listener of the spike.
  // Guarded by the hand-over: only the thread of the spike uses it after it was made.
  private struct Listener: @unchecked Sendable {
    let socket: LocalSocket
  }

  private static func answer(_ message: HTTPMessage, _ server: SpikeServer) throws -> [UInt8] {
    let body = Array(message.body)
    if message.head[0].hasPrefix("post /push") { return try server.push(body) }
    return try server.pull(after: Int(String(decoding: body, as: UTF8.self)) ?? 0)
  }
}

extension LocalClient {
  /// Posts a body and returns the body of the response.
  func post(_ path: String, _ body: [UInt8]) throws -> [UInt8] {
    Array(try expect(HTTPMessage.request("POST", path, body: body), path).body)
  }
}
