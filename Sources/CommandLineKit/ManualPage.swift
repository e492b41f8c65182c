import Foundation

/// A manual page in the language of `man`, made of the help texts of a tool.
package enum ManualPage {
  /// The page of a tool.
  ///
  /// - Parameters:
  ///   - program: the name of the tool.
  ///   - summary: what it does, in a few words.
  ///   - overview: the help without a topic.
  ///   - topics: the help of each command, by its name.
  package static func text(
    _ program: String, _ summary: String, overview: String, topics: [(name: String, text: String)]
  ) -> String {
    var lines = [
      ".TH \(program.uppercased()) 1 \"\" \"\(program) \(Output.version)\"", ".SH NAME",
      "\(program) \\- \(escaped(summary))", ".SH DESCRIPTION", ".nf",
    ]
    lines += block(overview) + [".fi", ".SH COMMANDS"]
    for topic in topics {
      lines += [".SS \(program) \(topic.name)", ".nf"] + block(topic.text) + [".fi"]
    }
    lines += [".SH EXIT STATUS", ".nf"]
    lines += ExitCode.meanings.map { code, meaning in
      escaped("\(code)".padding(toLength: 4, withPad: " ", startingAt: 0) + meaning)
    }
    return (lines + [".fi", ""]).joined(separator: "\n")
  }

  private static func block(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map(escaped)
  }

  /// A line whose characters mean only themselves.
  private static func escaped(_ line: String) -> String {
    let text = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
