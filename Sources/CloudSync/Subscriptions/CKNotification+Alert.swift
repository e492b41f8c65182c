public import Foundation

extension CKNotification {
  /// The alert of a push: the parts of its `aps` dictionary.
  package struct AlertContent: Sendable {
    var texts: [String: String] = [:]
    var lists: [String: [String]] = [:]
    var badge: Int?
  }
}

/// The alert of a push.
@available(*, deprecated, message: "Read it from the push itself.")
extension CKNotification {
  /// The text shown.
  public var alertBody: String? { content.alert.texts["body"] }

  /// The key of the text shown.
  public var alertLocalizationKey: String? { content.alert.texts["loc-key"] }

  /// The values for the text shown.
  public var alertLocalizationArgs: [String]? { content.alert.lists["loc-args"] }

  /// The title shown.
  public var title: String? { content.alert.texts["title"] }

  /// The key of the title shown.
  public var titleLocalizationKey: String? { content.alert.texts["title-loc-key"] }

  /// The values for the title shown.
  public var titleLocalizationArgs: [String]? { content.alert.lists["title-loc-args"] }

  /// The subtitle shown.
  public var subtitle: String? { content.alert.texts["subtitle"] }

  /// The key of the subtitle shown.
  public var subtitleLocalizationKey: String? { content.alert.texts["subtitle-loc-key"] }

  /// The values for the subtitle shown.
  public var subtitleLocalizationArgs: [String]? { content.alert.lists["subtitle-loc-args"] }

  /// The key of the button's name.
  public var alertActionLocalizationKey: String? { content.alert.texts["action-loc-key"] }

  /// The image shown while the app starts.
  public var alertLaunchImage: String? { content.alert.texts["launch-image"] }

  /// The number on the app's icon.
  public var badge: NSNumber? { content.alert.badge.map { NSNumber(value: $0) } }

  /// The sound played.
  public var soundName: String? { content.alert.texts["sound"] }

  /// The kind of notification, for its buttons.
  public var category: String? { content.alert.texts["category"] }
}

extension CKNotification.AlertContent {
  /// Reads the `aps` dictionary of a push; whatever is not text, list of texts or number is left
  /// out.
  init(aps: [AnyHashable: Any]) {
    let alert = aps["alert"] as? [AnyHashable: Any] ?? [:]
    texts["body"] = aps["alert"] as? String
    for (key, value) in alert {
      guard let key = key as? String else { continue }
      if let text = value as? String { texts[key] = text }
      if let list = value as? [String] { lists[key] = list }
    }
    for key in ["sound", "category"] { texts[key] = aps[key] as? String }
    badge = (aps["badge"] as? NSNumber)?.intValue
  }
}
