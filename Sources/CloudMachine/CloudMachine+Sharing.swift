import CloudProtocol
import Records

extension CloudMachine {
  func resolveShares(_ request: ResolveShares, _ context: RequestContext) throws -> CloudReply {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
  func findUsers(_ request: [UserLookup], _ context: RequestContext) throws -> CloudReply {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
  func acceptShares(_ request: [String], _ context: RequestContext) throws -> (CloudReply, Ledger) {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
}
