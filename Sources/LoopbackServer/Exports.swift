// The types of other modules that a `CloudStorage` uses: `import LoopbackServer` is enough to name
// them. They are listed one by one, since names such as `Record` or `Query` would be ambiguous
// beside types of an app's own modules. The product `LoopbackServer` contains the modules
// `CloudMachine`, `CloudProtocol` and `Records` for code that names the others.
@_exported public import enum CloudMachine.AccountAvailability
@_exported public import struct CloudMachine.AccountRow
@_exported public import protocol CloudMachine.ArchiveStorage
@_exported public import protocol CloudMachine.AssetStorage
@_exported public import protocol CloudMachine.CloudStorage
@_exported public import struct CloudMachine.DatabaseID
@_exported public import struct CloudMachine.DatabaseRow
@_exported public import struct CloudMachine.FieldIndexes
@_exported public import struct CloudMachine.FieldRow
@_exported public import struct CloudMachine.FieldShape
@_exported public import class CloudMachine.MemoryStorage
@_exported public import struct CloudMachine.ReadPlan
@_exported public import struct CloudMachine.Receipt
@_exported public import struct CloudMachine.ReceiptKey
@_exported public import struct CloudMachine.RecordLink
@_exported public import struct CloudMachine.RecordRow
@_exported public import struct CloudMachine.RecordTypeID
@_exported public import struct CloudMachine.RecordTypeRow
@_exported public import struct CloudMachine.SchemaRow
@_exported public import protocol CloudMachine.SchemaStorage
@_exported public import struct CloudMachine.ServerLimits
@_exported public import struct CloudMachine.ShareMembership
@_exported public import enum CloudMachine.StorageChange
@_exported public import struct CloudMachine.StorageSecret
@_exported public import struct CloudMachine.TransactionConflict
@_exported public import struct CloudMachine.UploadRow
@_exported public import struct CloudMachine.ZoneRow
@_exported public import struct CloudMachine.ZoneSharing
@_exported public import struct CloudProtocol.AssetContent
@_exported public import enum CloudProtocol.CloudEnvironment
@_exported public import struct CloudProtocol.CloudError
@_exported public import enum CloudProtocol.CloudReply
@_exported public import enum Records.DatabaseScope
@_exported public import struct Records.RecordID
@_exported public import struct Records.Subscription
@_exported public import struct Records.SubscriptionID
@_exported public import struct Records.Timestamp
@_exported public import struct Records.UserID
@_exported public import struct Records.ZoneID
