// GameResultStore
