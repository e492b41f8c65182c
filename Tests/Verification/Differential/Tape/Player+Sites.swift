import CloudProtocol
import Records
import SimulationSupport

/// The devices and zones of requests.
extension Player {
  /// A zone of the device's own.
  func site(_ device: Device, _ zone: ZoneID = .default) -> Site {
    Site(device: device, scope: .private, zone: zone)
  }

  /// A zone of another account, in the shared database.
  func visit(_ device: Device, to owner: String, _ zone: ZoneID) -> Site {
    Site(
      device: device, scope: .shared,
      zone: ZoneID(name: zone.name, owner: users[owner]?.rawValue ?? "nobody"))
  }

  /// A place that suits the tape's theme.
  mutating func randomSite() -> Site {
    // Alice's devices do most, so that they meet.
    let device =
      random.chance(theme == .records ? 0.85 : 0.55)
      ? random.pick([Device.all[0], Device.all[1]])
      : random.pick([Device.all[2], Device.all[2], Device.all[3]])
    let zone = randomZone()
    switch theme {
    case .sharing:
      // The other account's zones are visited more than they are written by their owner.
      guard random.chance(device.account == "bob" ? 0.7 : 0.25) else { return site(device, zone) }
      let known = Set((shares[device.account] ?? [:]).keys.map(\.zone))
        .filter { $0.owner != ZoneID.currentOwner }.sorted { $0.name < $1.name }
      guard !known.isEmpty, random.chance(0.9) else {
        return visit(device, to: device.account == "bob" ? "alice" : "bob", zone)
      }
      return Site(device: device, scope: .shared, zone: random.pick(known))
    case .everyone where random.chance(0.8):
      let isWrong = random.chance(0.03)
      return Site(device: device, scope: .public, zone: isWrong ? zone : .default)
    case .records, .everyone, .services:
      // One's own zone by one's own name is the same zone.
      guard random.chance(0.05), let user = users[device.account] else {
        return site(device, zone)
      }
      count(.ownSpelling)
      return site(device, ZoneID(name: zone.name, owner: user.rawValue))
    }
  }

  /// A zone, now and then the default one.
  mutating func randomZone() -> ZoneID {
    random.chance(0.12)
      ? .default : random.chance(0.6) ? Player.zones[0] : random.pick(Player.zones)
  }

  mutating func randomZones(_ site: Site) -> ModifyZones {
    let zone = ZoneID(name: random.pick(Player.zones).name, owner: site.zone.owner)
    switch random.below(10) {
    case 0..<6: return ModifyZones(save: [zone])
    case 6..<9: return ModifyZones(delete: [zone])
    default: return ModifyZones(save: [zone, .default], delete: [random.pick(Player.zones)])
    }
  }
}
