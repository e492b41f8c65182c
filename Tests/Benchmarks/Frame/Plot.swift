import Foundation

/// Draws ratios against their bars as an SVG picture.
///
/// The bar of every row is the one line in the middle; what stands left of it is met. The scale is
/// logarithmic, so that twice the bar is as far from it as half of it.
enum Plot {
  private static let (left, width, right) = (470.0, 460.0, 190.0)
  private static let (top, step) = (70.0, 26.0)
  /// The powers of ten shown on each side of the bar.
  private static let (lowest, highest) = (-2.0, 1.0)

  /// The picture of those measurements that have a bar.
  static func svg(_ measurements: [Measurement]) -> String {
    let rows = measurements.filter { $0.goal != nil }
    let height = top + step * Double(rows.count) + 50
    let bottom = top + step * Double(rows.count)
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(text(left + width + right)) \
      \(text(height))" font-family="Helvetica, Arial, sans-serif" font-size="13">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="20" y="28" font-size="17" font-weight="bold" fill="#222222">\
      What things cost, against the bar of each</text>
      <text x="20" y="48" fill="#666666">ratio of two measurements taken in turn, in units of \
      its bar; left of the line is met</text>
      """
    ]
    for tick in [0.01, 0.03, 0.1, 0.3, 1, 3, 10] {
      let x = place(tick)
      let isBar = tick == 1
      parts.append(
        """
        <line x1="\(text(x))" y1="\(text(top))" x2="\(text(x))" y2="\(text(bottom))" \
        stroke="\(isBar ? "#222222" : "#dddddd")" stroke-width="\(isBar ? 2 : 1)"/>
        <text x="\(text(x))" y="\(text(bottom + 20))" text-anchor="middle" fill="#666666">\
        \(isBar ? "bar" : "\(String(format: "%g", tick))x")</text>
        """)
    }
    for (index, row) in rows.enumerated() { parts.append(line(row, at: index)) }
    parts.append("</svg>\n")
    return parts.joined(separator: "\n")
  }

  private static func line(_ row: Measurement, at index: Int) -> String {
    let y = top + step * (Double(index) + 0.5)
    let goal = row.goal ?? 1
    let x = place(row.ratio / goal)
    let colour = row.isMet == true ? "#1b7f4d" : "#c0392b"
    let name = [row.row, row.name].compactMap { $0 }.joined(separator: " ")
    return """
      <text x="\(text(left - 14))" y="\(text(y + 4))" text-anchor="end" fill="#222222">\
      \(escaped(short(name)))</text>
      <line x1="\(text(place(row.lowRatio / goal)))" y1="\(text(y))" \
      x2="\(text(place(row.highRatio / goal)))" y2="\(text(y))" stroke="\(colour)" \
      stroke-width="3" stroke-opacity="0.45"/>
      <circle cx="\(text(x))" cy="\(text(y))" r="5" fill="\(colour)"/>
      <text x="\(text(left + width + 14))" y="\(text(y + 4))" fill="\(colour)">\
      \(Report.ratio(row.ratio))x of \(Report.ratio(goal))x</text>
      """
  }

  private static func place(_ value: Double) -> Double {
    let power = min(highest, max(lowest, log10(max(value, 1e-9))))
    return left + width * (power - lowest) / (highest - lowest)
  }

  private static func short(_ name: String) -> String {
    name.count <= 64 ? name : name.prefix(62) + "…"
  }

  private static func text(_ value: Double) -> String { String(format: "%.1f", value) }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
