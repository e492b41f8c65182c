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
      let end = position + 1 < heads.count ? heads[position + 1].start : text.scalars.count
      guard let rule = head.rule else {
        reading.problems.append(.unknownGame(line: text.line(at: head.start)))
        continue
      }
      var body = ShareBody(text.scalars, head.end..<max(head.end, end))
      do throws(ShareFault) {
        let puzzle = try rule.read(head.values, &body)
        let shared = text.original(head.start..<max(head.end, body.usedEnd))
        reading.results.append(result(rule.game, head.values, puzzle, shared, date))
      } catch {
        let line = text.line(at: head.start)
        let name = rule.game.name
        switch error {
        case .missing(let part):
          reading.problems.append(.incomplete(game: name, missing: part, line: line))
        case .impossible: reading.problems.append(.impossibleScore(game: name, line: line))
        }
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
    let played = PuzzleDay(date, calendar)
    var told = head.day
    if told == nil, let number = head.puzzle, head.variant == nil {
      told = game.dayZero?.adding(number)
    }
    // Nobody plays a puzzle days before it appears: then the number is wrong, or not about days.
    if let day = told, day.number > played.number + 1 { told = nil }
    let day = told ?? played
    var key = head.puzzle.map { String($0) } ?? day.text
    var data = puzzle.data
    if let variant = head.variant {
      key = "\(variant)-\(key)"
      data["variant"] = variant
    }
    if let number = head.puzzle { data["puzzle"] = String(number) }
    return GameResult(
      id: identity.id(of: game, puzzle: key), gameId: game.id, gameName: game.name,
      date: day == played ? date : day.noon(calendar) ?? date, score: puzzle.score,
      maxAttempts: game.maxAttempts, completed: puzzle.completed, sharedText: text,
      parsedData: data)
  }

  // MARK: Heads

  private struct FoundHead {
    var start: Int
    var end: Int
    var rule: ShareRule?
    var values: ShareHead
  }

  /// Where results begin, in order.
  private func heads(in text: ShareText) -> [FoundHead] {
    var heads: [FoundHead] = []
    var index = 0
    while index < text.scalars.count {
      guard Self.canBegin(text.scalars, index) else {
        index += 1
        continue
      }
      if let head = known(text, index) ?? unknown(text, index) {
        // A sentence that names its game late begins at the line's start, but not before the end
        // of the result before it.
        var found = head
        if let previous = heads.last { found.start = max(found.start, previous.end) }
        heads.append(found)
        index = max(found.end, index + 1)
      } else {
        index += 1
      }
    }
    return heads
  }

  private static func canBegin(_ text: [Unicode.Scalar], _ index: Int) -> Bool {
    let scalar = text[index]
    if !scalar.isLetterASCII { return ShareRule.globes.contains(scalar) }
    return index == 0 || !text[index - 1].isLetterASCII
  }

  private func known(_ text: ShareText, _ index: Int) -> FoundHead? {
    for rule in ShareRule.all {
      for keyword in rule.keywords {
        var cursor = ShareCursor(text.scalars, index..<text.scalars.count)
        guard cursor.take(keyword) else { continue }
        let lineStart = Self.lineStart(text.scalars, index)
        let line = ShareCursor(text.scalars, lineStart..<Self.lineEnd(text.scalars, index))
        guard var values = rule.head(&cursor, line) else { continue }
        let before = Self.wordBefore(text.scalars, index)
        var start = before.start
        if values.variant == nil, ShareRule.variants.contains(before.word) {
          values.variant = before.word
        } else if before.word != "daily" {
          start = index
          if index > lineStart, text.scalars[index - 1] == "#" { start -= 1 }
        }
        if rule.isSentence { start = lineStart }
        return FoundHead(start: start, end: cursor.index, rule: rule, values: values)
      }
    }
    return nil
  }

  /// Something like `Foodle 123 4/6`: a result, but of no game we know.
  private func unknown(_ text: ShareText, _ index: Int) -> FoundHead? {
    var cursor = ShareCursor(
      text.scalars, index..<Self.lineEnd(text.scalars, index))
    guard cursor.word().count >= 3, cursor.puzzleNumber() != nil,
      let outcome = cursor.outcome(), outcome.limit >= 3
    else { return nil }
    return FoundHead(start: index, end: cursor.index, rule: nil, values: ShareHead())
  }

  private static func lineStart(_ text: [Unicode.Scalar], _ index: Int) -> Int {
    (text[..<index].lastIndex(of: "\n") ?? -1) + 1
  }

  private static func lineEnd(_ text: [Unicode.Scalar], _ index: Int) -> Int {
    text[index...].firstIndex(of: "\n") ?? text.count
  }

  /// The word before a place on the same line, in lower case, and where it begins.
  private static func wordBefore(
    _ text: [Unicode.Scalar], _ index: Int
  ) -> (word: String, start: Int) {
    var end = index
    while end > 0, text[end - 1] == " " || text[end - 1] == "#" { end -= 1 }
    var start = end
    while start > 0, text[start - 1].isLetterASCII { start -= 1 }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: text[start..<end])
    return (String(view).lowercased(), start)
  }
}
