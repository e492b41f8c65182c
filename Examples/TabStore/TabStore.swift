// TabStore
