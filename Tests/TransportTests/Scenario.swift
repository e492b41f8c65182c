import CloudProtocol
import Records
import Testing

/// One story that any service must tell the same way: what was asked, and what came.
struct Scenario: CustomTestStringConvertible, Sendable {
  let name: String
  let run: @Sendable (any TestedService) async throws -> [Step]

  var testDescription: String { name }

  /// The actual and the expected results.
  struct Step: Sendable {
    let what: String
    let came: String
    let expected: String
  }
}

/// Collects the steps of a scenario.
final class Story {
  private(set) var steps: [Scenario.Step] = []

  /// Notes that `what` came out as `came` and must be `expected`.
  func step(_ what: String, _ came: String, is expected: String) {
    steps.append(Scenario.Step(what: what, came: came, expected: expected))
  }
}

extension Scenario {
  init(_ name: String, _ body: @escaping @Sendable (any TestedService, Story) async throws -> Void)
  {
    self.name = name
    run = { service in
      let story = Story()
      try await body(service, story)
      return story.steps
    }
  }
}

@Suite("All transports give the same responses")
struct TransportTests {
  /// Proves CS-95, CS-176, CS-177, CS-180, CS-181, CS-182, CS-183, S2,
  /// SC-3, SC-9, SC-11, SC-15, SC-16, SC-102, WS-96.
  @Test(
    "A scenario gives the expected answers on every transport", arguments: ServiceKind.allCases,
    Scenario.all)
  func scenarioAnswersMatchOnEveryTransport(_ kind: ServiceKind, _ scenario: Scenario) async throws
  {
    let service = try kind.open()
    let steps = try await scenario.run(service)
    let left = await service.close()
    for step in steps where step.came != step.expected {
      Issue.record("\(step.what): `\(step.came)` came, `\(step.expected)` is right")
    }
    #expect(!steps.isEmpty, "the scenario looked at nothing")
    #expect(left == [], "something was left over")
  }
}
