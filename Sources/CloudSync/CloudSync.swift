// CloudSync
