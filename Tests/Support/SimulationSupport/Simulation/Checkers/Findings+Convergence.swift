import Records

/// I1 and I3 in the end, for one record on one device.
extension Findings {
  /// Reports an entry that was never sent, and one that is not what the server holds.
  ///
  /// - Parameters:
  ///   - entry: What the app of `device` has.
  ///   - place: Which of the layout's records it is.
  ///   - record: What the server shows of it; `nil` for nothing.
  func compare(
    _ entry: AppModel.Entry, of device: String, at place: Int, in layout: WorldLayout,
    with record: Record?
  ) {
    let path = layout.records[place].path
    if entry.isDirty { report("I3", "\(device): an edit of \(path) was never sent") }
    let value = record.flatMap { SimulatedValue($0, at: place) }
    guard entry.value != value || (record != nil && entry.tag != record?.changeTag) else { return }
    report(
      "I1",
      "\(device): \(path) is \(text(entry.value, entry.tag)), on the server "
        + text(value, record?.changeTag))
  }

  private func text(_ value: SimulatedValue?, _ tag: ChangeTag?) -> String {
    guard let value else { return "absent" }
    return "edit \(value.sequence) at version \(tag?.rawValue ?? "none")"
  }
}
