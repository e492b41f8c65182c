import Foundation

/// Where operations run that were given to a database or container.
///
/// One for all: operations wait for answers, not for a thread, so none keeps another waiting.
let operationQueue: OperationQueue = {
  let queue = OperationQueue()
  queue.name = "swift-cloud-sync.operations"
  queue.maxConcurrentOperationCount = .max
  return queue
}()
