// Tests name engines, records, errors and the server all the time; one import brings them. The
// value types below stay out: their plain names, such as `Record`, could be an app's own.
@_exported public import CloudSync
@_exported public import LoopbackServer
