@_exported public import DurableFiles

// The CloudKit that this module is built on, and the files that it stores items in. No other file
// of the module imports a CloudKit.
//
// The trait `AppleCloudKit` chooses Apple's framework; without it the module is built on CloudSync,
// on Apple's platforms too.
#if AppleCloudKit
  @_exported public import CloudKit
#else
  @_exported public import CloudSync
#endif
