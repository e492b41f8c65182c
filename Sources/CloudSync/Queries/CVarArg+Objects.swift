#if !canImport(Darwin)
  public import Foundation

  /// The types that apps cast to `CVarArg` to pass them to a predicate's format, as bridging lets
  /// them on Apple's platforms. Each is an object to a format's `%@`.
  extension Date: @retroactive CVarArg {
    /// No object: what formats texts on Linux has no use for a date; a predicate takes it whole.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension Data: @retroactive CVarArg {
    /// No object, as for dates.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension UUID: @retroactive CVarArg {
    /// No object, as for dates.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension URL: @retroactive CVarArg {
    /// No object, as for dates.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension Array: @retroactive CVarArg {
    /// No object, as for dates.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension Set: @retroactive CVarArg {
    /// No object, as for dates.
    public var _cVarArgEncoding: [Int] { [0] }
  }

  extension NSObject: @retroactive CVarArg {
    /// The object's address, which lives as long as the argument does.
    public var _cVarArgEncoding: [Int] {
      [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())]
    }
  }
#endif
