// SyncMachine
