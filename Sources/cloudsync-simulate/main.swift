// cloudsync-simulate
