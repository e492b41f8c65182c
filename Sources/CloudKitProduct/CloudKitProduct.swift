// The product `CloudKit` brings the module `CloudKit` where the system has none. It has to exist on
// every host, since SwiftPM looks products up before it reads the conditions of a dependency.
#if !canImport(Darwin)
  import CloudKit
#endif
