import CloudProtocol
import CloudSync
import CommandLineKit

/// What went wrong, in words for people.
func words(_ error: any Error) -> String {
  switch error {
  case let error as CKError:
    switch error.code {
    case .notAuthenticated:
      return "no account is signed in on this device; run: stores account switch NAME"
    case .networkFailure, .networkUnavailable:
      return "the server can't be reached: \(error.localizedDescription)"
    default: return "\(error.localizedDescription) (\(error.code))"
    }
  case let error as CloudError: return error.message
  case is CancellationError: return "interrupted"
  default: return "\(error)"
  }
}
