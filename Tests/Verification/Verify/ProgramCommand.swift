import CommandLineKit
import Foundation
import VerificationSupport

/// Runs a program that is not a command of this tool, whose last line has the figures.
enum ProgramCommand: VerificationCommand {
  static let name = "program"
  static let summary = "another program, such as make fuzz-release, for its figures"
  static let usage = """
    usage: cloudsync-verify program WORD...

    Runs the program that the words name, and prints its output. Its last line has the figures.
    Exit code: 0 if the program ended with 0, else 1; 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) throws -> Bool {
    var words = [try arguments.word("a program")]
    while let word = arguments.word() { words.append(word) }
    try arguments.end()
    let pipe = Pipe()
    let process = try Process.start(words, output: pipe, errors: FileHandle.standardError)
    var line = Data()
    var last = Data()
    while true {
      let data = pipe.fileHandleForReading.availableData
      if data.isEmpty { break }
      FileHandle.standardOutput.write(data)
      for byte in data {
        if byte != UInt8(ascii: "\n") {
          line.append(byte)
        } else if !line.isEmpty {
          (last, line) = (line, Data())
        }
      }
    }
    noteFigures(String(decoding: line.isEmpty ? last : line, as: UTF8.self))
    return process.end() == 0
  }
}
