import CloudProtocol

/// The clouds that are compared, kept for many tapes: each tape has a container of its own.
struct Stage {
  /// A cloud with its name.
  struct Member {
    let name: String
    let cloud: any Cloud
  }

  /// The number of clouds.
  #if PostgreSQL
    static let count = 5
  #else
    static let count = 4
  #endif

  private let memory: ServerCloud
  private let file: ServerCloud
  private let web: ServerCloud
  /// The server on PostgreSQL, if this program is built with it.
  private let database: ServerCloud?
  private let plant: Plant?

  init(plant: Plant? = nil) throws {
    memory = try ServerCloud(.memory, isOverHTTP: false)
    file = try ServerCloud(.file, isOverHTTP: false)
    web = try ServerCloud(.memory, isOverHTTP: true)
    #if PostgreSQL
      database = try ServerCloud(.postgreSQL, isOverHTTP: false)
    #else
      database = nil
    #endif
    self.plant = plant
  }

  /// The clouds, the one that the others are compared with first.
  var members: [Member] {
    [
      Member(name: "the server in memory", cloud: memory),
      Member(name: "the reference", cloud: ReferenceCloud(plant: plant)),
      Member(name: "the server on a file", cloud: tampered(file, [.lostDeletion, .lostPush])),
      Member(name: "the server over HTTP", cloud: tampered(web, [.wrongDevice, .wrongAsset])),
    ] + (database.map { [Member(name: "the server on PostgreSQL", cloud: $0)] } ?? [])
  }

  private func tampered(_ cloud: ServerCloud, _ plants: [Plant]) -> any Cloud {
    guard let plant, plants.contains(plant) else { return cloud }
    return TamperedCloud(cloud: cloud, plant: plant)
  }

  /// Ends the servers.
  func close() async {
    await database?.close()
    await web.close()
    await file.close()
    await memory.close()
  }

  /// Plays the tape of `seed` to all clouds.
  /// - Returns: How many steps there were, what happened in them, and the first difference.
  func play(
    seed: UInt64, steps: Int
  ) async throws -> (count: Int, situations: [String: Int], difference: Difference?) {
    var first: [Transcript.Line]?
    var situations: [String: Int] = [:]
    for member in members {
      var player = Player(member.cloud, seed: seed)
      let lines = try await player.play(steps: steps)
      guard let first else {
        first = lines
        situations = player.situations
        continue
      }
      let isServer = !(member.cloud is ReferenceCloud)
      if let difference = Difference(
        first, lines, seed: seed, other: member.name, comparesAll: isServer)
      {
        return (first.count, situations, difference)
      }
    }
    return (first?.count ?? 0, situations, nil)
  }
}

/// The first difference of two transcripts of one tape.
struct Difference: CustomStringConvertible, Sendable {
  let seed: UInt64
  let step: Int
  let other: String
  let asked: String
  let first: String
  let second: String
  /// The requests and responses before the difference.
  let before: [Transcript.Line]

  /// - Parameter comparesAll: Whether what servers are free in is compared too.
  init?(
    _ first: [Transcript.Line], _ second: [Transcript.Line], seed: UInt64, other: String,
    comparesAll: Bool
  ) {
    let nothing = Transcript.Line(asked: "nothing", came: "", amongServers: "")
    for index in 0..<max(first.count, second.count) {
      let one = index < first.count ? first[index] : nothing
      let two = index < second.count ? second[index] : nothing
      if one.asked == two.asked, one.came == two.came,
        !comparesAll || one.amongServers == two.amongServers
      {
        continue
      }
      self.seed = seed
      self.other = other
      step = index
      asked = one.asked == two.asked ? one.asked : "\(one.asked) <> \(two.asked)"
      let isInPages = one.asked == two.asked && one.came == two.came
      self.first = isInPages ? one.amongServers : one.came
      self.second = isInPages ? two.amongServers : two.came
      before = Array(first.prefix(index))
      return
    }
    return nil
  }

  /// Everything before the difference, a line for each step.
  var trace: String {
    before.enumerated().map { index, line in
      "\(index) \(line.asked)\n    \(line.came)\n    \(line.amongServers)"
    }.joined(separator: "\n")
  }

  var description: String {
    """
    seed \(seed), step \(step): \(asked)
      the server in memory: \(first)
      \(other): \(second)
    """
  }
}
