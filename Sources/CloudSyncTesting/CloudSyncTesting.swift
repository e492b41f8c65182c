// Tests name records, engines, the server and its errors all the time; one import brings them.
@_exported public import CloudProtocol
@_exported public import CloudSync
@_exported public import LoopbackServer
@_exported public import Records
