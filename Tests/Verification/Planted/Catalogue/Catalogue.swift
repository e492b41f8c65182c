/// All faults there are to plant.
package enum Catalogue {
  /// Every fault, in the order in which they are numbered.
  package static var all: [PlantedFault] {
    engine + outcomes + fetching + state + rules + sharing + feeds + storage + wire + driver
      + stores + disk
  }
}
