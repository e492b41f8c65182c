// CloudSyncTesting
