import Foundation

/// Where words are printed: a terminal of some width, with colours or without, or anything else.
package struct Terminal: Hashable, Sendable {
  /// Whether colours are wanted.
  package enum Colors: String, CaseIterable, Sendable {
    /// Where somebody sees them.
    case auto
    /// Everywhere.
    case always
    /// Nowhere.
    case never
  }

  /// Whether somebody looks at it.
  package let isTerminal: Bool

  /// How many columns a line has; `nil` where lines can be of any length.
  package let width: Int?

  /// Whether words may have colours.
  package let hasColors: Bool

  /// Whether a line can be drawn again in its place.
  package let canRedraw: Bool

  /// Something to print on.
  package init(isTerminal: Bool, width: Int?, hasColors: Bool) {
    self.isTerminal = isTerminal
    self.width = width
    self.hasColors = hasColors
    canRedraw = isTerminal
  }

  /// What is behind a file descriptor.
  ///
  /// The width is what `COLUMNS` says, else what the terminal says, else 80. There are no colours
  /// where `NO_COLOR` has a value or `TERM` is `dumb`, unless they are wanted always.
  package init(descriptor: CInt, colors: Colors, environment: [String: String]) {
    isTerminal = isatty(descriptor) == 1
    width = isTerminal ? Self.width(descriptor, environment) : nil
    canRedraw = isTerminal && environment["TERM"] != "dumb"
    let isPlain =
      environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
    switch colors {
    case .always: hasColors = true
    case .never: hasColors = false
    case .auto: hasColors = isTerminal && !isPlain
    }
  }

  private static func width(_ descriptor: CInt, _ environment: [String: String]) -> Int {
    if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// `text` in a style, where there are colours.
  package func styled(_ text: String, _ style: Style) -> String {
    guard hasColors, style != .plain, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}

/// How words look on a terminal with colours.
package enum Style: Int, Sendable {
  /// As the terminal shows words anyway.
  case plain = 0
  /// For titles.
  case bold = 1
  /// For what matters less than the words beside it.
  case dim = 2
  /// For what went wrong.
  case red = 31
  /// For what went well.
  case green = 32
  /// For what is not done yet.
  case yellow = 33
  /// For what leads elsewhere.
  case blue = 34
}
