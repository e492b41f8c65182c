import CloudProtocol

/// The situations that a full run must reach, as `Situations.txt` lists them.
extension Situation {
  /// One situation, by its name and in words.
  package struct Required: Hashable, Sendable {
    /// The fault and the stage, as runs count them.
    package var name: String
    /// A sentence about the situation.
    package var sentence: String
  }

  /// All of them, in the order of the file.
  package static let required = SituationList().required
}

/// Reads the list of situations.
private struct SituationList {
  private(set) var required: [Situation.Required] = []
  private var sets = ["codes": CloudError.Code.allCases.map { "\($0)" }]
  private var words: [Substring: Substring] = [:]

  init() {
    let lines = String(decoding: PackageResources.Situations_txt, as: UTF8.self).split(
      separator: "\n"
    ).filter { !$0.hasPrefix("#") }
    for line in lines where !line.contains("|") {
      guard let colon = line.firstRange(of: ": ") else { continue }
      let (name, text) = (line[..<colon.lowerBound], line[colon.upperBound...])
      if name.hasPrefix("set ") {
        sets[String(name.dropFirst(4))] = elements(text)
      } else {
        words[name] = text
      }
    }
    for line in lines {
      let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
      guard parts.count == 4 else { continue }
      for first in elements(parts[0]) {
        for second in elements(parts[1]) {
          let names = [first, second]
          required.append(
            Situation.Required(name: filled(parts[2], names), sentence: filled(parts[3], names)))
        }
      }
    }
  }

  /// The elements of a list; one without a name where there is none.
  private func elements(_ text: Substring) -> [String] {
    var elements: [String] = []
    for word in text.split(separator: " ") {
      let name = String(word.dropFirst())
      switch word.first {
      case "+": elements += sets[name] ?? []
      case "-": elements.removeAll { $0 == name }
      default: elements.append(String(word))
      }
    }
    return elements.isEmpty ? [""] : elements
  }

  /// A template with names in place of `{1}` and `{2}`, and the words for them of a kind.
  private func filled(_ template: Substring, _ names: [String]) -> String {
    let parts = template.split(separator: "{", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(String(parts[0])) { text, part in
      let place = part.prefix { $0 != "}" }
      let name = names[place.hasPrefix("2") ? 1 : 0]
      let kind = place.dropFirst(2)
      let found = words["\(kind) \(name)"] ?? words[kind].map { Substring(filled($0, [name])) }
      return text + (found ?? Substring(name)) + part.dropFirst(place.count + 1)
    }
  }
}

extension Substring {
  /// Without the spaces at its ends.
  fileprivate var trimmed: Substring {
    var text = drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}
