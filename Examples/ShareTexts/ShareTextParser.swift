public import Foundation

/// Finds results in what people paste: one share text or many, with chatter around them.
///
/// Pure: the day of play and the calendar come from the caller. A result's day is the puzzle's
/// where the text tells it, by a date or by a number that counts days, and the caller's otherwise.
public struct ShareTextParser: Sendable {
  /// What a paste held.
  public struct Reading: Hashable, Sendable {
    /// The results, in the order of the text.
    public var results: [GameResult] = []
    /// Parts that look like results and are none, in the order of the text.
    public var problems: [ShareTextError] = []
  }

  /// How results get their IDs.
  public var identity: ResultIdentity
  /// Says in which time zone a day of play is a day.
  public var calendar: Calendar

  /// Makes a parser.
  public init(identity: ResultIdentity = .puzzle, calendar: Calendar = .current) {
    self.identity = identity
    self.calendar = calendar
  }

  /// Everything there is in `text`.
  ///
  /// - Parameter date: when it was played, as far as the text does not say.
  /// - Throws: `ShareTextError` when there is neither a result nor anything that looks like one.
  public func read(_ text: String, playedOn date: Date) throws(ShareTextError) -> Reading {
    let text = try ShareText(text)
    let heads = heads(in: text)
    guard !heads.isEmpty else { throw .nothingRecognised }
    var reading = Reading()
    for (position, head) in heads.enumerated() {
      let end = position + 1 < heads.count ? heads[position + 1].start : text.units.count
      guard let rule = head.rule else {
        reading.problems.append(.unknownGame(line: text.lineNumber(at: head.start)))
        continue
      }
      var body = ShareBody(text, head.end..<max(head.end, end))
      do throws(ShareTextError) {
        let puzzle = try rule.read(head, &body)
        let shared = text.original(head.start..<max(head.end, body.usedEnd))
        reading.results.append(result(rule.game, head, puzzle, shared, date))
      } catch {
        reading.problems.append(error)
      }
    }
    return reading
  }

  /// The one result in `text`.
  ///
  /// - Throws: `ShareTextError` when there is none, a broken one, or more than one.
  public func readOne(
    _ text: String, playedOn date: Date
  ) throws(ShareTextError) -> GameResult {
    let reading = try read(text, playedOn: date)
    if reading.results.count > 1 { throw .severalResults(reading.results.count) }
    guard let result = reading.results.first else {
      throw reading.problems.first ?? .nothingRecognised
    }
    return result
  }

  private func result(
    _ game: Game, _ head: ShareHead, _ puzzle: SharePuzzle, _ text: String, _ date: Date
  ) -> GameResult {
    let (puzzleNumber, variant) = (head.number("puzzle"), head["variant"]?.lowercased())
    let counted = variant == nil ? puzzleNumber.flatMap { game.dayZero?.adding($0) } : nil
    let played = PuzzleDay(date, calendar)
    var day = head.day ?? counted ?? played
    // Nobody plays a puzzle days before it appears: then the number is wrong, or not about days.
    if day.number > played.number + 1 { day = played }
    var key = puzzleNumber.map { String($0) } ?? day.text
    var data = puzzle.data
    data["puzzle"] = puzzleNumber.map { String($0) }
    if let variant {
      key = "\(variant)-\(key)"
      data["variant"] = variant
    }
    return GameResult(
      id: identity.id(of: game, puzzle: key), gameId: game.id, gameName: game.name,
      date: day == played ? date : day.noon(calendar) ?? date, score: puzzle.score,
      maxAttempts: game.maxAttempts, completed: puzzle.completed, sharedText: text,
      parsedData: data)
  }

  /// The most units of UTF-16 that a head has.
  private static let longestHead = 200

  /// The places where results begin, in order.
  private func heads(in text: ShareText) -> [ShareHead] {
    var heads: [ShareHead] = []
    // Something that looks like a result of no known game comes last.
    let rules = ShareRule.all.map { $0 as ShareRule? } + [nil]
    for beginning in ShareRule.beginnings.matches(in: text, 0..<text.units.count) {
      let index = beginning.range.lowerBound
      let end = heads.last?.end ?? 0
      let place = index..<min(index + Self.longestHead, text.units.count)
      guard index >= end,
        var head = rules.lazy.compactMap({ ShareHead(of: $0, in: text, at: place) }).first
      else { continue }
      // A sentence begins with its line, but not before the end of the result before it.
      head.start = max(head.start, end)
      heads.append(head)
    }
    return heads
  }
}
