package import Foundation

/// Reads planted faults from the text files in `Tests/Verification/Planted/Faults`.
///
/// Each fault is a paragraph:
///
///     fault: gap in the list
///     story: A token in the middle of the list of zones is taken for its end.
///     found by: machines, engines
///     file: Sources/CloudMachine/CloudMachine+Changes.swift
///     - the original text, line by line
///     + the replacement
///
/// The lines from `file:` on can repeat. An empty line separates two faults.
package enum FaultCatalogue {
  /// The folder of the catalogue, relative to the package's folder.
  private static let folder = "Tests/Verification/Planted/Faults"

  /// All faults of the package at `root`, in the order in which they are numbered.
  ///
  /// - Throws: ``PlantingError``, or Foundation's error if the folder can't be read.
  package static func faults(of root: URL) throws -> [PlantedFault] {
    let folder = root.appendingPathComponent(folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try names.filter { $0.hasSuffix(".txt") }.flatMap { name in
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      return try faults(in: text)
    }
  }

  /// The faults that `text` describes.
  package static func faults(in text: String) throws(PlantingError) -> [PlantedFault] {
    var faults: [PlantedFault] = []
    for line in text.split(separator: "\n") {
      if let name = value("fault: ", of: line) {
        faults.append(PlantedFault(name: name))
        continue
      }
      guard var fault = faults.popLast() else {
        throw PlantingError("a catalogue begins with \(line), not with a fault")
      }
      try add(line, to: &fault)
      faults.append(fault)
    }
    return faults
  }

  private static func add(
    _ line: Substring, to fault: inout PlantedFault
  ) throws(PlantingError) {
    if let story = value("story: ", of: line) {
      fault.story = story
    } else if let names = value("found by: ", of: line) {
      for name in names.split(separator: ", ") {
        guard let detector = Detector(String(name)) else {
          throw PlantingError("\(fault.name): there is no run called \(name)")
        }
        fault.detectors.append(detector)
      }
    } else if let path = value("file: ", of: line) {
      fault.edits.append(PlantedFault.Edit(path: path))
    } else if let last = fault.edits.indices.last, line.hasPrefix("-") {
      fault.edits[last].original.append(line: line)
    } else if let last = fault.edits.indices.last, line.hasPrefix("+") {
      fault.edits[last].replacement.append(line: line)
    } else {
      throw PlantingError("\(fault.name): \(line) is no line of a fault")
    }
  }

  private static func value(_ key: String, of line: Substring) -> String? {
    line.hasPrefix(key) ? String(line.dropFirst(key.count)) : nil
  }
}

extension String {
  /// Appends a line of an edit without its mark, after a line break unless it is the first.
  fileprivate mutating func append(line: Substring) {
    self += (isEmpty ? "" : "\n") + line.dropFirst(2)
  }
}
