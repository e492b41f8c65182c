import CloudProtocol
import CloudSync
import CommandLineKit

/// The message for an error of any kind.
func words(_ error: any Error) -> String {
  switch error {
  case let error as CKError:
    switch error.code {
    case .notAuthenticated: return ToolError.noAccount.description
    case .networkFailure, .networkUnavailable:
      return "the server can't be reached: \(error.localizedDescription)"
    default: return "\(error.localizedDescription) (\(error.code))"
    }
  case let error as CloudError: return error.message
  case is CancellationError: return "interrupted"
  default: return "\(error)"
  }
}

/// The exit code for an error of any kind.
func exitCode(_ error: any Error) -> CInt {
  switch error {
  case let error as ToolError: error.code
  case let error as CKError:
    switch error.code {
    case .notAuthenticated, .permissionFailure: ExitCode.noPermission
    case .networkFailure, .networkUnavailable, .serviceUnavailable: ExitCode.unavailable
    case .unknownItem, .zoneNotFound: ExitCode.unknownName
    default: ExitCode.failure
    }
  default: ExitCode.failure
  }
}
