public import Foundation
package import Records
import Synchronization

/// The settings of a push: known to apps as `CKSubscription.NotificationInfo`.
///
/// It can be used from any thread: the value is guarded by a lock. Settings that do not affect
/// the delivery of a push are stored by name. See CS-92.
public final class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
  private let state: Mutex<Subscription.NotificationInfo>

  /// Wraps settings.
  package init(_ value: Subscription.NotificationInfo) { state = Mutex(value) }

  /// The settings as a value.
  package var value: Subscription.NotificationInfo { state.withLock { $0 } }

  /// Creates the settings of a push; without arguments, of one that has no effect.
  public convenience init(
    alertBody: String? = nil,
    alertLocalizationKey: String? = nil,
    alertLocalizationArgs: [CKRecord.FieldKey] = [],
    title: String? = nil,
    titleLocalizationKey: String? = nil,
    titleLocalizationArgs: [CKRecord.FieldKey] = [],
    subtitle: String? = nil,
    subtitleLocalizationKey: String? = nil,
    subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
    alertActionLocalizationKey: String? = nil,
    alertLaunchImage: String? = nil,
    soundName: String? = nil,
    desiredKeys: [CKRecord.FieldKey] = [],
    shouldBadge: Bool = false,
    shouldSendContentAvailable: Bool = false,
    shouldSendMutableContent: Bool = false,
    category: String? = nil,
    collapseIDKey: String? = nil
  ) {
    self.init(Subscription.NotificationInfo(shouldSendContentAvailable: false))
    self.alertBody = alertBody
    self.alertLocalizationKey = alertLocalizationKey
    self.alertLocalizationArgs = alertLocalizationArgs
    self.title = title
    self.titleLocalizationKey = titleLocalizationKey
    self.titleLocalizationArgs = titleLocalizationArgs
    self.subtitle = subtitle
    self.subtitleLocalizationKey = subtitleLocalizationKey
    self.subtitleLocalizationArgs = subtitleLocalizationArgs
    self.alertActionLocalizationKey = alertActionLocalizationKey
    self.alertLaunchImage = alertLaunchImage
    self.soundName = soundName
    self.desiredKeys = desiredKeys
    self.shouldBadge = shouldBadge
    self.shouldSendContentAvailable = shouldSendContentAvailable
    self.shouldSendMutableContent = shouldSendMutableContent
    self.category = category
    self.collapseIDKey = collapseIDKey
  }

  /// The text to show.
  public var alertBody: String? {
    get { state.withLock { $0.alertBody } }
    set { state.withLock { $0.alertBody = newValue } }
  }

  /// The key under which the app finds the text to show.
  public var alertLocalizationKey: String? {
    get { text("alertLocalizationKey") }
    set { setText("alertLocalizationKey", newValue) }
  }

  /// The fields whose values go into the text.
  public var alertLocalizationArgs: [CKRecord.FieldKey]? {
    get { texts("alertLocalizationArgs") }
    set { setTexts("alertLocalizationArgs", newValue) }
  }

  /// The title to show.
  public var title: String? {
    get { text("title") }
    set { setText("title", newValue) }
  }

  /// The key under which the app finds the title.
  public var titleLocalizationKey: String? {
    get { text("titleLocalizationKey") }
    set { setText("titleLocalizationKey", newValue) }
  }

  /// The fields whose values go into the title.
  public var titleLocalizationArgs: [CKRecord.FieldKey]? {
    get { texts("titleLocalizationArgs") }
    set { setTexts("titleLocalizationArgs", newValue) }
  }

  /// The subtitle to show.
  public var subtitle: String? {
    get { text("subtitle") }
    set { setText("subtitle", newValue) }
  }

  /// The key under which the app finds the subtitle.
  public var subtitleLocalizationKey: String? {
    get { text("subtitleLocalizationKey") }
    set { setText("subtitleLocalizationKey", newValue) }
  }

  /// The fields whose values go into the subtitle.
  public var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
    get { texts("subtitleLocalizationArgs") }
    set { setTexts("subtitleLocalizationArgs", newValue) }
  }

  /// The key under which the app finds the name of the button.
  public var alertActionLocalizationKey: String? {
    get { text("alertActionLocalizationKey") }
    set { setText("alertActionLocalizationKey", newValue) }
  }

  /// The image shown while the app starts.
  public var alertLaunchImage: String? {
    get { text("alertLaunchImage") }
    set { setText("alertLaunchImage", newValue) }
  }

  /// The sound to play.
  public var soundName: String? {
    get { text("soundName") }
    set { setText("soundName", newValue) }
  }

  /// Up to three fields sent along.
  public var desiredKeys: [CKRecord.FieldKey]? {
    get { state.withLock { $0.desiredKeys } }
    set { state.withLock { $0.desiredKeys = newValue ?? [] } }
  }

  /// Whether the push counts up the badge.
  public var shouldBadge: Bool {
    get { state.withLock { $0.shouldBadge } }
    set { state.withLock { $0.shouldBadge = newValue } }
  }

  /// Whether the push wakes the app.
  public var shouldSendContentAvailable: Bool {
    get { state.withLock { $0.shouldSendContentAvailable } }
    set { state.withLock { $0.shouldSendContentAvailable = newValue } }
  }

  /// Whether the push may be changed before it is shown.
  public var shouldSendMutableContent: Bool {
    get { state.withLock { $0.shouldSendMutableContent } }
    set { state.withLock { $0.shouldSendMutableContent = newValue } }
  }

  /// The kind of notification, for its buttons.
  public var category: String? {
    get { text("category") }
    set { setText("category", newValue) }
  }

  /// Pushes with the same name here replace each other.
  public var collapseIDKey: String? {
    get { text("collapseIDKey") }
    set { setText("collapseIDKey", newValue) }
  }

  private func text(_ key: String) -> String? {
    guard case .string(let text) = state.withLock({ $0.others[key]?.value }) else { return nil }
    return text
  }

  private func setText(_ key: String, _ text: String?) {
    state.withLock { $0.others[key] = text.map { Field(.string($0)) } }
  }

  private func texts(_ key: String) -> [String]? {
    guard case .list(let values) = state.withLock({ $0.others[key]?.value }) else { return nil }
    return values.compactMap { value in
      guard case .string(let text) = value else { return nil }
      return text
    }
  }

  private func setTexts(_ key: String, _ texts: [String]?) {
    let texts = texts ?? []
    state.withLock { state in
      state.others[key] = texts.isEmpty ? nil : Field(.list(texts.map { .string($0) }))
    }
  }

  /// Creates settings with the same values.
  public func copy(with zone: NSZone? = nil) -> Any { CKNotificationInfo(value) }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the settings.
  public func encode(with coder: NSCoder) {
    let value = value
    ArchivedBytes.encode("CloudSyncNotificationInfo", with: coder) { $0.write(value) }
  }

  /// Decodes settings; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncNotificationInfo", with: coder) {
      try $0.notificationInfo()
    }
    guard let value else { return nil }
    self.init(value)
  }
}
