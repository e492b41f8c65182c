import Foundation
import Records

/// The form of predicates and orders in archives: JSON in the archive's byte run.
///
/// Trees are of open depth, which the JSON decoder limits; what it refuses reads as damage.
extension ByteWriter {
  /// Writes a predicate; one that can't be written is decoded as damage.
  mutating func write(_ tree: PredicateTree) { write(json: tree) }

  /// Writes a level of order.
  mutating func write(_ sort: PredicateSort) { write(json: sort) }

  private mutating func write(json value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    write((try? encoder.encode(value)).map { [UInt8]($0) } ?? [])
  }
}

extension ByteReader {
  /// Reads a predicate.
  mutating func predicateTree() throws(ByteFormatError) -> PredicateTree { try json() }

  /// Reads a level of order.
  mutating func predicateSort() throws(ByteFormatError) -> PredicateSort { try json() }

  private mutating func json<Value: Decodable>() throws(ByteFormatError) -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let data = Data(try byteArray())
    guard let value = try? decoder.decode(Value.self, from: data) else {
      throw fault("a part of a query cannot be read")
    }
    return value
  }
}
