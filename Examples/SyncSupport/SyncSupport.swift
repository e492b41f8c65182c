// SyncSupport
