// cloudsync-bench
