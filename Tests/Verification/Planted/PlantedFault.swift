/// A fault that is put into a copy of the sources to see whether the simulated worlds find it.
///
/// The product itself holds no line of it. All faults are planted into one copy at once, each
/// behind a question for its number, so that one build serves them all and the environment says
/// which of them is awake.
package struct PlantedFault: Hashable, Sendable {
  /// A short name, unique in the catalogue.
  package var name: String
  /// What somebody might have got wrong, in one sentence.
  package var story: String
  /// Where the text is changed.
  package var edits: [Edit]
  /// Who is expected to find it, the most likely one first.
  package var programmes: [Programme]

  /// One change to one file.
  package struct Edit: Hashable, Sendable {
    /// The file, from the root of the package.
    package var path: String
    /// What stands there now; it must stand there exactly once.
    package var original: String
    /// What stands there instead; `PLANTED` in it becomes the question whether the fault is awake.
    package var replacement: String

    /// Puts `replacement` in the place of `original`.
    package init(_ path: String, _ original: String, _ replacement: String) {
      self.path = path
      self.original = original
      self.replacement = replacement
    }
  }

  /// The word in a replacement that becomes the question whether the fault is awake.
  package static let switchWord = "PLANTED"

  /// Describes a fault that `edits` put in and that `programmes` should find.
  package init(
    _ name: String, _ story: String, by programmes: Programme..., edits: [Edit]
  ) {
    self.name = name
    self.story = story
    self.edits = edits
    self.programmes = programmes
  }

  /// The target whose code the first edit is in, as the report names it.
  package var target: String {
    edits.first.flatMap { Planter.target(of: $0.path) } ?? "?"
  }
}
