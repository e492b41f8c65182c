import Foundation
import Testing

@testable import Mutants

@Suite("Mutants of a text")
struct MutatorTests {
  private func mutants(_ text: String, _ kinds: Mutant.Kind...) -> [String] {
    Mutator.mutants(of: text, at: "Sources/A/B.swift")
      .filter { kinds.contains($0.kind) }.map { mutant in
        var bytes = Array(text.utf8)
        bytes.replaceSubrange(mutant.range, with: Array(mutant.text(7).utf8))
        return String(decoding: bytes, as: UTF8.self)
      }
  }

  @Test("An operator becomes one with the number of its mutant")
  func operatorsAreReplaced() throws {
    #expect(mutants("let a = b < c", .boundary) == ["let a = b ~%~|~~ c"])
    #expect(mutants("let a: [Set<Int>] = x.map { -$0 }", .boundary, .arithmetic) == [])
    let mutant = try #require(Mutator.mutants(of: "let a = b && c", at: "Sources/A/B.swift").first)
    #expect(mutant.declaration(1).contains("try planted(1) ? first || second()"))
    #expect(mutant.lines == 1...1 && mutant.module == "A")
    #expect(mutant.name == "Sources/A/B.swift | logic | && to || | let a = b && c")
  }

  @Test("Each clause of a condition is negated, and a guard is removed, unless it binds a name")
  func conditionsAreChanged() {
    #expect(
      mutants("guard let a, b(c, { $0 }) else { return }", .condition, .guardRemoved) == [
        "guard let a, (b(c, { $0 })) != planted(7) else { return }",
        "guard let a, planted(7) || (b(c, { $0 })) else { return }",
      ])
    #expect(
      mutants("if case .x = y, z {\n}\nwhile w {\n}", .condition) == [
        "if case .x = y, (z) != planted(7) {\n}\nwhile w {\n}",
        "if case .x = y, z {\n}\nwhile (w) != planted(7) {\n}",
      ])
  }

  @Test("A number grows by one, and a truth value is reversed")
  func constantsAreChanged() {
    #expect(
      mutants("let a = f(1_000, false)", .constant) == [
        "let a = f((planted(7) ? 1_000 + 1 : 1_000), false)", "let a = f(1_000, planted(7))",
      ])
    #expect(mutants("case 1: x.0", .constant) == [])
    #expect(mutants("let a = [1, 2, 3, 4]", .constant) == [])
  }

  @Test("Statements are left out and swapped with their neighbours, declarations are not")
  func statementsAreChanged() {
    let text = """
      func f() {
        let x = 1
        a()
        b(
          1)
      }
      """
    #expect(
      mutants(text, .statementRemoved) == [
        text.replacing("a()", with: "if !planted(7) { a() }"),
        text.replacing("b(\n    1)", with: "if !planted(7) { b(\n    1) }"),
      ])
    #expect(
      mutants(text, .statementsSwapped) == [
        text.replacing(
          "a()\n  b(\n    1)",
          with: "if planted(7) { b(\n    1); a() } else { a()\nb(\n    1) }")
      ])
    #expect(
      mutants(text, .earlyReturn) == [
        text.replacing("f() {", with: "f() { if planted(7) { return };")
      ])
  }

  @Test(
    "Assignments are swapped only where their order matters",
    arguments: [
      ("a.x = 1\n  a.y = b.z", 0), ("x = 1\n  y = x", 1), ("a.x = 1\n  a.x = 2", 1),
      ("a.x = 1\n  f(a)", 1), ("a.x = f()\n  a.y = 1", 1),
    ])
  func independentAssignmentsAreNotSwapped(statements: String, count: Int) {
    #expect(mutants("func f() {\n  \(statements)\n}", .statementsSwapped).count == count)
  }

  @Test(
    "What is no statement, or has a value, is not left out",
    arguments: [
      "struct A {\n  case b\n}", "var a: Int {\n  b.c\n}", "init() {\n  a = b\n}",
      "func f() -> Int {\n  g()\n}", "let a = b.map {\n  c($0)\n}", "f(\n  a,\n  b)",
      "func f() {\n  // a()\n  /* b()\n  c() */\n}", "func f() {\n  assert(a)\n}",
      "#if canImport(Darwin)\nfunc f() {\n  a()\n}\n#endif",
      "func f() {\n  let a = \"\\(b(\"c\n\"))\"\n}",
    ])
  func otherTextIsNoStatement(_ text: String) {
    #expect(mutants(text, .statementRemoved) == [])
  }

  /// Proves X12.
  @Test("A sample takes as many of each module, follows from its seed, and does not overlap")
  func samplesFollowFromSeeds() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func sample(_ seed: UInt64) throws -> [Mutant] {
      var sample = try MutantSample(of: root, modules: ["Disk", "SQLite"], seed: seed)
      return sample.draw(40) { _ in true }
    }
    let first = try sample(1)
    #expect(try sample(1) == first)
    #expect(try sample(2) != first)
    #expect(first.count == 40 && first.count { $0.module == "Disk" } == 20)
    for (index, mutant) in first.enumerated() {
      #expect(
        !first.dropFirst(index + 1).contains {
          $0.path == mutant.path && $0.range.overlaps(mutant.range)
        })
    }
  }

  /// Proves X12.
  @Test("Every mutant that is known as equivalent still exists, and has a reason")
  func equivalentMutantsExist() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let names = try EquivalentMutants(of: root).names
    let all = try MutantSample(of: root, modules: MutantsCommand.modules, seed: 0).all
    #expect(names.subtracting(all.map(\.name)) == [])
  }
}
