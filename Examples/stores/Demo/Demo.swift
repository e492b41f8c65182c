import Foundation

struct Demo {
  let home: Home
  let output: Output
  func run() async throws -> Bool { true }
}
