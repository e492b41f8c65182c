import CloudProtocol
import Records

extension CloudMachine {
  func queryRecords(_ request: QueryRecords, _ context: RequestContext) throws -> CloudReply {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
}
