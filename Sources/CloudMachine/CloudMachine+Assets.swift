import CloudProtocol
import Records

extension CloudMachine {
  func downloadAsset(_ request: DownloadAsset, _ context: RequestContext) throws -> CloudReply {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
  func uploadAsset(_ request: UploadAsset, _ context: RequestContext) throws -> (CloudReply, Ledger)
  {
    throw Refusal(.serverRejectedRequest, "this server does not do that yet")
  }
}
