import Foundation

/// Completes command lines for shells: their scripts call the program, which answers with words.
package enum Completion {
  /// The hidden command that the scripts call, with all words up to the one that is completed.
  package static let word = "complete"

  /// The shells that have a script.
  package static let shells = ["bash", "zsh", "fish"]

  /// A possible word.
  package struct Candidate: Hashable {
    /// The word.
    package var word: String
    /// A description, for shells that show one.
    package var meaning: String

    /// Creates a candidate.
    package init(word: String, meaning: String = "") {
      self.word = word
      self.meaning = meaning
    }
  }

  /// The answer to a script: the line `files`, or the line `words` and then a line for each word
  /// that fits, with a tab and its meaning if it has one.
  ///
  /// - Parameters:
  ///   - found: the possible words; `nil` for a file.
  ///   - current: the beginning of the word that is completed.
  package static func answer(_ found: [Candidate]?, to current: String) -> String {
    guard let found else { return "files\n" }
    let fitting = Set(found.compactMap { $0.completing(current) })
    return "words\n"
      + fitting.sorted { $0.word < $1.word }.map { candidate in
        let meaning = printable(candidate.meaning)
        return candidate.word + (meaning.isEmpty ? "" : "\t" + meaning) + "\n"
      }.joined()
  }

  /// The script of a shell for a program.
  ///
  /// - Throws: `UsageError` for a shell that has none.
  package static func script(of shell: String, for program: String) throws(UsageError) -> String {
    guard let script = scripts(program)[shell] else {
      throw UsageError(
        "there is no completion for \(quoted(shell)); there is for bash, zsh and fish")
    }
    return script
  }

  private static func scripts(_ program: String) -> [String: String] {
    let function = program.replacing("-", with: "_")
    return [
      "bash": """
      _\(function)() {
        local IFS=$'\\n' lines line
        lines=($("${COMP_WORDS[0]}" \(word) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
        COMPREPLY=()
        if [[ ${lines[0]} == files ]]; then
          compopt -o default 2>/dev/null
        else
          for line in "${lines[@]:1}"; do
            COMPREPLY+=("$(printf '%q' "${line%%$'\\t'*}")")
          done
        fi
      }
      complete -F _\(function) \(program)

      """,
      "zsh": """
      #compdef \(program)
      _\(function)() {
        local -a lines found
        lines=("${(@f)$("${words[1]}" \(word) "${(@)words[2,CURRENT]}" 2>/dev/null)}")
        if [[ ${lines[1]} == files ]]; then
          _files
        else
          found=("${(@)lines[2,-1]}")
          compadd -l -d found -- "${(@)found%%$'\\t'*}"
        fi
      }
      (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
      compdef _\(function) \(program)

      """,
      "fish": """
      function __\(function)_complete
        set -l before (commandline -opc)
        set -l current (commandline -ct)
        set -l lines (\(program) \(word) $before[2..-1] "$current" 2>/dev/null)
        if test "$lines[1]" = files
          __fish_complete_path (commandline -ct)
        else
          printf '%s\\n' $lines[2..-1]
        end
      end
      complete -c \(program) -f -a '(__\(function)_complete)'

      """,
    ]
  }
}

extension Completion.Candidate {
  /// The candidate if it begins with `current`.
  ///
  /// IDs are matched in either case, and completed in the case in which they were begun.
  fileprivate func completing(_ current: String) -> Completion.Candidate? {
    if word.hasPrefix(current) { return self }
    guard UUID(uuidString: word) != nil, word.lowercased().hasPrefix(current) else { return nil }
    return Completion.Candidate(word: word.lowercased(), meaning: meaning)
  }
}
