import Foundation
import Testing

@Suite("Docs/Compatibility.md says what is there")
struct CompatibilityTests {
  @Test("Public symbols are found as their users spell them")
  func scanner() {
    let tree: SourceTree = [
      "Sources/A/A.swift": """
      public final class CKThing: NSObject {
        public init?(coder: NSCoder) {}
        public convenience init(name: String = "a", in zone: Zone<A, B>) {}
        public func save(_ a: A, completionHandler: @escaping (A?, (any Error)?) -> Void) {}
        public subscript<T>(key: String) -> T? { nil }
        func hidden() {}
        public static let `default` = CKThing()
      }
      public class CKThingID {}
      extension CKThing {
        public typealias ID = CKThingID
        public enum Kind: Int { case one = 1, two = 2, three(a: Int, b: Int) }
      }
      extension CKThingID { public var name: String { "" } }
      public protocol CKTold { func tell(_ it: A) }
      """
    ]
    let expected: Set = [
      "CKThing", "CKThing.init(coder:)", "CKThing.init(name:in:)",
      "CKThing.save(_:completionHandler:)", "CKThing.subscript(_:)", "CKThing.default",
      "CKThing.ID", "CKThing.Kind", "CKThing.Kind.one", "CKThing.Kind.two", "CKThing.Kind.three",
      "CKThing.ID.name", "CKTold", "CKTold.tell(_:)",
    ]
    #expect(PublicFace(of: tree.swift()).symbols == expected)
  }

  @Test("dump")
  func dump() throws {
    let face = PublicFace(of: SourceTree.repository.swift(under: "Sources/CloudSync"))
    try face.symbols.sorted().joined(separator: "\n").write(
      toFile: "/tmp/face.txt", atomically: true, encoding: .utf8)
  }
}
