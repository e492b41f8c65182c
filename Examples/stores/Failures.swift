import AchievementStore
import AnnotationStore
import CloudProtocol
import CloudSync
import CommandLineKit
import GameResultStore
import IdeaStore
import LeaderboardStore
import LoopbackServer
import SyncSupport
import TabStore

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
  case let error as FileError where error.step == .understand:
    // The tool has no option for the recovery that the error names.
    let text = error.description
    guard let end = text.firstRange(of: "; open with recovery") else { return text }
    return text[..<end.lowerBound] + "; move the file away to go on without it"
  case is CancellationError: return "interrupted"
  default: return "\(error)"
  }
}

func exitCode(_ error: any Error) -> CInt {
  switch error {
  case let error as ToolError: error.code
  case let error as CKError: exitCode(error)
  case let error as FileError:
    switch error.step {
    case .read: ExitCode.noInput
    case .write: ExitCode.cannotCreate
    case .understand, .use: ExitCode.data
    }
  case let error as ServerFileError: exitCode(error)
  case is ShareTextError, is IdeaImportError, is KeyValueExportError: ExitCode.data
  case is FriendCodeError, is IdeaError: ExitCode.usage
  case let error as SocialServiceError: exitCode(error)
  case let error as AnnotationError: exitCode(error)
  default: ExitCode.failure
  }
}

private func exitCode(_ error: CKError) -> CInt {
  switch error.code {
  case .notAuthenticated, .accountTemporarilyUnavailable, .permissionFailure: ExitCode.noPermission
  case .networkFailure, .networkUnavailable, .serviceUnavailable: ExitCode.unavailable
  case .unknownItem, .zoneNotFound: ExitCode.unknownName
  default: ExitCode.failure
  }
}

private func exitCode(_ error: ServerFileError) -> CInt {
  switch error.code {
  case .cannotOpen: ExitCode.noInput
  case .notADatabase, .foreign, .newer, .damaged: ExitCode.data
  case .readOnly, .full: ExitCode.cannotCreate
  case .busy, .failed: ExitCode.failure
  }
}

private func exitCode(_ error: SocialServiceError) -> CInt {
  switch error {
  case .invalidGame, .invalidDay, .invalidName, .ownFriendCode: ExitCode.usage
  case .unknownFriend, .unknownLeaderboard, .unknownPerson, .notInLeaderboard:
    ExitCode.unknownName
  case .cloudKitUnavailable, .notOwner, .ownerCannotLeave, .notALeaderboard: ExitCode.failure
  }
}

private func exitCode(_ error: AnnotationError) -> CInt {
  switch error {
  case .notFound, .unknownPerson: ExitCode.unknownName
  case .notANumber: ExitCode.usage
  case .readOnly, .notOwner, .mediaTooLarge, .notInConflict, .notShared, .notInCloud,
    .shareNotAccepted, .shareFailed:
    ExitCode.failure
  }
}
