import Foundation

/// A CSV file of ideas, read.
struct IdeaFile {
  /// The columns this version knows, by the names they go by.
  private static let columns: [IdeaRecord.Field: [String]] = [
    .id: ["id", "uuid", "編號", "编号"],
    .title: ["title", "標題", "标题", "想法"],
    .description: ["description", "描述", "說明", "说明"],
    .isCompleted: ["iscompleted", "completed", "done", "完成", "已完成"],
    .createdAt: ["createdat", "created", "建立時間", "創建時間", "创建时间"],
    .updatedAt: ["updatedat", "updated", "更新時間", "更新时间"],
  ]
  private static let yes: Set<String> = ["1", "true", "yes", "是", "已完成"]
  private static let no: Set<String> = ["", "0", "false", "no", "否", "未完成"]

  /// Stands for a name until the row is found good.
  private static let placeholder = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  private(set) var ignoredColumns: [String] = []
  private var places: [IdeaRecord.Field: Int] = [:]
  private let width: Int
  private var rows: CSVRows

  /// Reads the header of `data`.
  init(_ data: Data) throws(IdeaImportError) {
    if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) { throw .isNotUTF8 }
    rows = CSVRows(data)
    guard let header = rows.next() else { throw .isEmpty }
    if let problem = header.problem { throw .headerIsBroken(reason: problem.description) }
    width = header.fields.count
    for (place, name) in header.fields.enumerated() {
      let key = name.trimmingCharacters(in: .whitespaces).lowercased()
      guard let field = Self.columns.first(where: { $0.value.contains(key) })?.key else {
        ignoredColumns.append(name)
        continue
      }
      guard places.updateValue(place, forKey: field) == nil else {
        throw .columnIsDoubled(name: field.rawValue)
      }
    }
    guard places[.title] != nil else { throw .hasNoTitleColumn }
  }

  /// The next row as an idea, or why it is none; `nil` at the end.
  ///
  /// - Parameters:
  ///   - deviceID: the device that imports.
  ///   - now: when rows were made that don't tell.
  ///   - makeID: names rows without an ID.
  mutating func next(
    deviceID: String, now: Date, makeID: () -> UUID
  ) -> Result<Idea, IdeaImportReport.Problem>? {
    guard let row = rows.next() else { return nil }
    return Result { try idea(row, deviceID, now, makeID) }
      .mapError { IdeaImportReport.Problem(line: row.line, reason: "\($0)") }
  }

  private func idea(
    _ row: CSVRow, _ deviceID: String, _ now: Date, _ makeID: () -> UUID
  ) throws -> Idea {
    if let problem = row.problem { throw problem }
    guard row.fields.count == width else {
      throw CSVProblem(
        description: "it has \(row.fields.count) fields, the first row has \(width)")
    }
    func text(_ field: IdeaRecord.Field) -> String { places[field].map { row.fields[$0] } ?? "" }
    func date(_ field: IdeaRecord.Field) throws -> Date? {
      let text = text(field).trimmingCharacters(in: .whitespaces)
      guard !text.isEmpty else { return nil }
      guard let date = Date(iso8601: text) else {
        let invalid = IdeaError.dateIsInvalid(field: field.rawValue)
        throw CSVProblem(description: "\(invalid) of ISO 8601")
      }
      return date
    }
    let completion = text(.isCompleted).trimmingCharacters(in: .whitespaces).lowercased()
    guard Self.yes.contains(completion) || Self.no.contains(completion) else {
      throw IdeaError.isCompletedIsNotZeroOrOne
    }
    var id: UUID?
    if !text(.id).isEmpty {
      id = UUID(uuidString: text(.id))
      if id == nil { throw IdeaError.idIsNoUUID }
    }
    let updated = try date(.updatedAt)
    let created = try date(.createdAt) ?? min(now, updated ?? now)
    // The rules are checked before a name is spent on it.
    var idea = Idea(
      id: id ?? Self.placeholder, title: text(.title), description: text(.description),
      isCompleted: Self.yes.contains(completion), createdAt: created, updatedAt: updated ?? created,
      deviceId: deviceID)
    try idea.validate()
    if id == nil { idea.id = makeID() }
    return idea
  }
}

extension Date {
  /// Reads a date as ISO 8601 writes it, with or without parts of a second, or only a day (UTC).
  init?(iso8601 text: String) {
    let plain = Date.ISO8601FormatStyle()
    let styles = [
      plain, Date.ISO8601FormatStyle(includingFractionalSeconds: true),
      plain.year().month().day(),
    ]
    guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
    self = date
  }
}
