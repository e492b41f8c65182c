import CommandLineKit
import Foundation
import VerificationSupport

/// Runs another program, whose last line of output has the figures.
enum ProgramCommand: VerificationCommand {
  static let name = "program"
  static let summary = "another program, such as make fuzz-release, to record its figures"
  static let usage = """
    usage: cloudsync-verify program WORD...

    Runs a program and prints its output, whose last line has the figures.
    Exit code: 0 if the program ended with 0, else 1; 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) throws -> Bool {
    var words = [try arguments.word("a program")]
    while let word = arguments.word() { words.append(word) }
    try arguments.end()
    let pipe = Pipe()
    let process = try Process.start(words, output: pipe, errors: FileHandle.standardError)
    var output = Data()
    while true {
      let data = pipe.fileHandleForReading.availableData
      if data.isEmpty { break }
      FileHandle.standardOutput.write(data)
      output += data
    }
    let last = output.split(separator: UInt8(ascii: "\n")).last ?? Data()
    noteFigures(String(decoding: last, as: UTF8.self))
    return process.end() == 0
  }
}
