/// The public symbols of some sources, spelt as their users spell them: `CKRecord.ID.recordName`,
/// `CKDatabase.save(_:completionHandler:)`.
struct PublicFace {
  private(set) var symbols: Set<String> = []
  /// The nested name of a top-level type that is reached through another type.
  private var nestedNames: [String: String] = [:]

  init(of files: [SourceFile]) {
    for file in files { collectAliases(file) }
    for file in files {
      for member in file.members(of: file.wholeRange) { collect(member, of: file, in: nil) }
    }
  }

  /// One type that declarations are found in.
  private struct Context {
    var path: String
    /// Whether members need no word to be public.
    var exposesAll: Bool
    /// Whether enumeration cases are public.
    var exposesCases: Bool
  }

  private mutating func collectAliases(_ file: SourceFile) {
    for index in file.members(of: file.wholeRange)
    where ["extension", "class", "struct", "enum"].contains(file.tokens[index].text) {
      guard let body = file.body(ofDeclarationAt: index) else { continue }
      let owner = file.path(after: index)
      for member in file.members(of: body) where file.tokens[member].text == "typealias" {
        let end = member + 3
        guard end < file.tokens.count, file.tokens[member + 2].text == "=" else { continue }
        let (name, target) = (file.tokens[member + 1].text, file.tokens[end].text)
        let isWhole =
          end + 1 >= file.tokens.count || file.tokens[end + 1].line > file.tokens[end].line
        guard isWhole, target.hasPrefix("CK") else { continue }
        // Of several names the one whose parts make up the type's own.
        if nestedNames[target] == nil || owner + name == target {
          nestedNames[target] = "\(owner).\(name)"
        }
      }
    }
  }

  private mutating func collect(_ index: Int, of file: SourceFile, in context: Context?) {
    let kind = file.tokens[index].text
    let words = file.start(ofDeclarationAt: index)..<index
    let isPublic =
      words.contains { ["public", "open"].contains(file.tokens[$0].text) }
      || (context?.exposesAll ?? false) || (kind == "case" && (context?.exposesCases ?? false))
    if kind == "extension" {
      let inner = Context(
        path: spelt(file.path(after: index)), exposesAll: isPublic, exposesCases: false)
      return descend(index, of: file, in: inner)
    }
    guard isPublic else { return }
    let prefix = context.map { $0.path + "." } ?? ""
    switch kind {
    case "struct", "enum", "class", "actor", "protocol":
      let path = spelt(prefix + file.tokens[index + 1].text)
      symbols.insert(path)
      descend(
        index, of: file,
        in: Context(path: path, exposesAll: kind == "protocol", exposesCases: kind == "enum"))
    case "case":
      for name in file.caseNames(at: index) { symbols.insert(prefix + name) }
    case "func", "init", "subscript": symbols.insert(prefix + file.signature(at: index))
    case "var", "let", "typealias": symbols.insert(prefix + file.tokens[index + 1].name)
    default: break
    }
  }

  private mutating func descend(_ index: Int, of file: SourceFile, in context: Context) {
    guard let body = file.body(ofDeclarationAt: index) else { return }
    for member in file.members(of: body) { collect(member, of: file, in: context) }
  }

  /// `path` with a first part that has a nested name replaced by it.
  private func spelt(_ path: String) -> String {
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard let first = parts.first, let nested = nestedNames[first] else { return path }
    return spelt(([nested] + parts.dropFirst()).joined(separator: "."))
  }
}

extension Token {
  /// The token as a name, without the marks that let a keyword be one.
  fileprivate var name: String { text.replacing("`", with: "") }
}

extension SourceFile {
  /// All of it, as if it were a body.
  fileprivate var wholeRange: ClosedRange<Int> { -1...tokens.count }

  /// The dotted name behind the keyword at `index`.
  fileprivate func path(after index: Int) -> String {
    var path = ""
    for token in tokens[(index + 1)...] {
      guard token.text == "." || token.text.first?.isLetter == true || token.text.hasPrefix("_"),
        token.text != "where"
      else { break }
      path += token.name
    }
    return path
  }

  /// The names of the cases declared at `index`.
  fileprivate func caseNames(at index: Int) -> [String] {
    var names: [String] = []
    var position = index + 1
    while position < tokens.count {
      names.append(tokens[position].name)
      position += 1
      if position < tokens.count, tokens[position].text == "(" {
        position = (closing(of: position) ?? tokens.count) + 1
      }
      if position < tokens.count, tokens[position].text == "=" { position += 2 }
      guard position < tokens.count, tokens[position].text == "," else { break }
      position += 1
    }
    return names
  }

  /// The name and argument labels of the function, initialiser or subscript at `index`.
  fileprivate func signature(at index: Int) -> String {
    let isFunction = tokens[index].text == "func"
    let name = tokens[isFunction ? index + 1 : index].name
    guard let open = tokens[index...].firstIndex(where: { $0.text == "(" }),
      let close = closing(of: open)
    else { return name }
    var labels = ""
    var position = open + 1
    var isFirst = true
    while position < close {
      let text = tokens[position].text
      if isFirst {
        let next = tokens[position + 1].text
        let hasTwoNames = next != ":"
        labels += (name == "subscript" && !hasTwoNames ? "_" : tokens[position].name) + ":"
        isFirst = false
      } else if ["(", "[", "{"].contains(text) {
        position = closing(of: position) ?? close
      } else if text == "<" {
        position = closingAngle(of: position, before: close)
      } else if text == "," {
        isFirst = true
      }
      position += 1
    }
    return "\(name)(\(labels))"
  }

  private func closingAngle(of open: Int, before end: Int) -> Int {
    var depth = 0
    for index in open..<end {
      if tokens[index].text == "<" { depth += 1 }
      if tokens[index].text == ">", tokens[index - 1].text != "-" { depth -= 1 }
      if depth == 0 { return index }
    }
    return open
  }
}
