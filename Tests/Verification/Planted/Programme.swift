/// A simulator that runs worlds or scenarios, seed by seed, until a promise does not hold.
package enum Programme: Hashable, Sendable {
  /// The pure machines in worlds with faults.
  case machines
  /// Whole engines, with their tasks, in worlds with faults.
  case engines
  /// The stores of one kind, on the real engine.
  case stores(String)
  /// The state store and the server on a disk whose calls fail and whose power is cut.
  case crashes

  /// What its command line says before the seeds.
  package var arguments: [String] {
    switch self {
    case .machines: ["simulate"]
    case .engines: ["simulate", "--engine"]
    case .stores(let kind): ["stores", "--store", kind]
    case .crashes: ["crash", "images", "failures"]
    }
  }

  /// How the report names it.
  package var name: String {
    switch self {
    case .machines: "machines"
    case .engines: "engines"
    case .stores(let kind): "stores: \(kind)"
    case .crashes: "crashes"
    }
  }
}
