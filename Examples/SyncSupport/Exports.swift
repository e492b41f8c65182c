// Whoever imports SyncSupport has the kit and its files, too.
@_exported public import SyncedStore
