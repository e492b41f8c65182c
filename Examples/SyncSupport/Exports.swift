// Importing SyncSupport also imports the kit, its files and the CloudKit that it is built on.
@_exported public import SyncedStore
