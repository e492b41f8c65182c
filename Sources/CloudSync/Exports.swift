// The types of other modules that appear in this module's public API or in the implementation of a
// `CloudTransport`. `import CloudSync` is enough to name them.
//
// They are listed one by one, since `import CloudKit` passes them on to apps: names such as
// `Record`, `Query` or `Location` would be ambiguous beside types of an app's own modules. The
// product `CloudSync` contains the modules `CloudProtocol` and `Records` for code that names the
// others.
@_exported public import struct CloudProtocol.CloudCall
@_exported public import enum CloudProtocol.CloudEnvironment
@_exported public import struct CloudProtocol.CloudError
@_exported public import struct CloudProtocol.CloudPush
@_exported public import enum CloudProtocol.CloudReply
@_exported public import enum CloudProtocol.CloudRequest
@_exported public import enum CloudProtocol.CloudSignal
@_exported public import protocol CloudProtocol.CloudTransport
@_exported public import protocol CloudProtocol.SignalObservation
@_exported public import enum Records.DatabaseScope
@_exported public import struct Records.RecordID
@_exported public import struct Records.ZoneID
