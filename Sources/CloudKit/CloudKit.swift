// `import CloudKit`, as an app for Apple's platforms says it, brings what that framework and its
// overlay bring there.
@_exported public import CloudSync
@_exported public import Foundation
@_exported public import Observation
