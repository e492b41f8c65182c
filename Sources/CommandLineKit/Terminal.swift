import Foundation

/// The properties of an output: whether it is a terminal, its width and its colors.
package struct Terminal: Hashable, Sendable {
  /// The color mode.
  package enum Colors: String, CaseIterable, Sendable {
    /// Colors on terminals only.
    case auto
    /// Colors always.
    case always
    /// Colors never.
    case never
  }

  /// Whether the output is a terminal.
  package let isTerminal: Bool

  /// The width in columns; `nil` for unlimited lines.
  package let width: Int?

  /// Whether colors are used.
  package let hasColors: Bool

  /// Whether a line can be redrawn.
  package let canRedraw: Bool

  /// Creates a terminal description.
  package init(isTerminal: Bool, width: Int?, hasColors: Bool) {
    self.isTerminal = isTerminal
    self.width = width
    self.hasColors = hasColors
    canRedraw = isTerminal
  }

  /// Detects the properties of a file descriptor.
  ///
  /// The width is `COLUMNS`, else the terminal's width, else 80. Colors are off if `NO_COLOR` has a
  /// value or `TERM` is `dumb`, unless the mode is `always`.
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

  /// `text` in a style, if colors are used.
  package func styled(_ text: String, _ style: Style) -> String {
    guard hasColors, style != .plain, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}

/// A text style on a terminal with colors.
package enum Style: Int, Sendable {
  /// The default style.
  case plain = 0
  /// For titles.
  case bold = 1
  /// For secondary information.
  case dim = 2
  /// For errors.
  case red = 31
  /// For success.
  case green = 32
  /// For pending items.
  case yellow = 33
  /// For links.
  case blue = 34
}
