#if !canImport(Darwin)
  public import Foundation

  // Apps show the names of participants in these forms, which Foundation has on Apple's platforms
  // alone.

  extension PersonNameComponents {
    /// A form of a name, in the order of European languages.
    public struct FormatStyle: Foundation.FormatStyle {
      /// The length of a name's form.
      public enum Style: Codable, Hashable, Sendable {
        /// The nickname, or else the given name.
        case short
        /// The given and the family name.
        case medium
        /// All parts.
        case long
        /// The initials of the given and the family name.
        case abbreviated
      }

      /// The length of the form.
      public var style: Style

      /// Creates a form.
      public init(style: Style = .medium) { self.style = style }

      /// The name in this form; empty if no part of it is known.
      public func format(_ name: PersonNameComponents) -> String {
        let parts: [String?] =
          switch style {
          case .short:
            [[name.nickname, name.givenName, name.familyName].lazy.compactMap(\.self).first]
          case .medium: [name.givenName, name.familyName]
          case .long:
            [
              name.namePrefix, name.givenName, name.middleName, name.familyName, name.nameSuffix,
            ]
          case .abbreviated:
            [name.givenName, name.familyName].map { $0.map { String($0.prefix(1)) } }
          }
        return parts.compactMap(\.self).filter { !$0.isEmpty }
          .joined(separator: style == .abbreviated ? "" : " ")
      }
    }

    /// The given and the family name.
    public func formatted() -> String { formatted(FormatStyle()) }

    /// The name in a form, such as `.name(style: .long)`.
    public func formatted<Style: Foundation.FormatStyle>(
      _ style: Style
    ) -> Style.FormatOutput where Style.FormatInput == PersonNameComponents {
      style.format(self)
    }
  }

  extension FormatStyle where Self == PersonNameComponents.FormatStyle {
    /// The form of a name with this length.
    public static func name(style: PersonNameComponents.FormatStyle.Style) -> Self {
      PersonNameComponents.FormatStyle(style: style)
    }
  }
#endif
