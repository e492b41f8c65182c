// Written by hand for apple-check: names and signatures only. Not a system header.
#pragma once
#include "objc.h"
#define D __attribute__((objc_designated_initializer))
#define SENDABLE __attribute__((swift_attr("@Sendable")))
#define NAME(n) __attribute__((swift_name(n)))
#define UNAVAIL __attribute__((unavailable))
typedef double NSTimeInterval; typedef uint16_t unichar;
typedef struct { NSUInteger location; NSUInteger length; } NSRange;
#pragma clang assume_nonnull begin
@class NSString, NSCoder, NSError, NSDictionary, NSArray, NSSet, NSData, NSDate, NSURL, NSNumber;
@protocol NSCopying - (id)copyWithZone:(nullable NSZone *)zone; @end
@protocol NSMutableCopying - (id)mutableCopyWithZone:(nullable NSZone *)zone; @end
@protocol NSCoding
- (void)encodeWithCoder:(NSCoder *)coder;
- (nullable instancetype)initWithCoder:(NSCoder *)coder;
@end
@protocol NSSecureCoding <NSCoding> @required
@property (class, readonly) BOOL supportsSecureCoding;
@end
SENDABLE __attribute__((swift_bridge("Swift.String"))) @interface NSString : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property (readonly) NSUInteger length;
- (instancetype)init D; - (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@end
SENDABLE @interface NSNumber : NSObject <NSCopying, NSSecureCoding>
- (nullable instancetype)initWithCoder:(NSCoder *)coder D;
- (NSNumber *)initWithInteger:(NSInteger)value D NAME("init(value:)"); - (NSNumber *)initWithLongLong:(long long)value D NAME("init(value:)");
- (NSNumber *)initWithUnsignedInteger:(NSUInteger)value D NAME("init(value:)"); - (NSNumber *)initWithInt:(int)value D NAME("init(value:)");
- (NSNumber *)initWithUnsignedLongLong:(unsigned long long)value D NAME("init(value:)");
- (NSNumber *)initWithDouble:(double)value D NAME("init(value:)"); - (NSNumber *)initWithFloat:(float)value D NAME("init(value:)");
- (NSNumber *)initWithBool:(BOOL)value D NAME("init(value:)");
@property (readonly) double doubleValue; @property (readonly) long long longLongValue __attribute__((swift_name("int64Value"))); @property (readonly) NSInteger integerValue __attribute__((swift_name("intValue"))); @property (readonly) NSUInteger unsignedIntegerValue __attribute__((swift_name("uintValue"))); @property (readonly) BOOL boolValue; @property (readonly) const char *objCType; @property (readonly) unsigned long long unsignedLongLongValue __attribute__((swift_name("uint64Value")));
@end
SENDABLE __attribute__((swift_bridge("Foundation.Date"))) @interface NSDate : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSTimeInterval timeIntervalSinceReferenceDate;
- (instancetype)init D; - (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@end
SENDABLE __attribute__((swift_bridge("Foundation.Data"))) @interface NSData : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property (readonly) NSUInteger length;
@end
SENDABLE __attribute__((swift_bridge("Foundation.URL"))) @interface NSURL : NSObject <NSCopying, NSSecureCoding>
@property (nullable, readonly, copy) NSString *path; @property (nullable, readonly, copy) NSString *absoluteString;
@end
SENDABLE __attribute__((swift_bridge("Foundation.UUID"))) @interface NSUUID : NSObject <NSCopying, NSSecureCoding> @end
SENDABLE @interface NSNull : NSObject <NSCopying, NSSecureCoding> + (NSNull *)null; @end
__attribute__((swift_bridge("Swift.Array"))) @interface NSArray<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property (readonly) NSUInteger count; - (T)objectAtIndex:(NSUInteger)i;
- (instancetype)init D; - (nullable instancetype)initWithCoder:(NSCoder *)coder D; - (instancetype)initWithArray:(NSArray<T> *)array;
@end
__attribute__((swift_bridge("Swift.Dictionary"))) @interface NSDictionary<__covariant K, __covariant T> : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property (readonly) NSUInteger count; - (nullable T)objectForKey:(K)k;
@end
__attribute__((swift_bridge("Swift.Set"))) @interface NSSet<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSSecureCoding> @property (readonly) NSUInteger count; @end
SENDABLE __attribute__((swift_bridge("Swift.Error"))) @interface NSError : NSObject <NSCopying, NSSecureCoding>
- (instancetype)initWithDomain:(NSString *)domain code:(NSInteger)code userInfo:(nullable NSDictionary<NSString *, id> *)info D;
- (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@property (readonly, copy) NSString *domain; @property (readonly) NSInteger code; @property (readonly, copy) NSString *localizedDescription;
@end
@interface NSOrderedSet<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSSecureCoding> @property (readonly) NSUInteger count; @end
@interface NSCoder : NSObject
- (void)encodeObject:(nullable id)object forKey:(NSString *)key __attribute__((swift_name("encode(_:forKey:)")));
- (void)encodeBool:(BOOL)value forKey:(NSString *)key __attribute__((swift_name("encode(_:forKey:)")));
- (void)encodeInt64:(int64_t)value forKey:(NSString *)key __attribute__((swift_name("encode(_:forKey:)")));
- (void)encodeDouble:(double)value forKey:(NSString *)key __attribute__((swift_name("encode(_:forKey:)")));
- (void)encodeObject:(nullable id)object NAME("encode(_:)"); - (void)encodeDataObject:(NSData *)data NAME("encode(_:)");
- (nullable NSData *)decodeDataObject NAME("decodeData()");
- (nullable const uint8_t *)decodeBytesForKey:(NSString *)key returnedLength:(nullable NSUInteger *)length NAME("decodeBytes(forKey:returnedLength:)");
- (BOOL)containsValueForKey:(NSString *)key;
- (nullable id)decodeObjectForKey:(NSString *)key;
- (BOOL)decodeBoolForKey:(NSString *)key; - (int64_t)decodeInt64ForKey:(NSString *)key; - (double)decodeDoubleForKey:(NSString *)key;
@property (readonly) BOOL allowsKeyedCoding; @property (readonly) BOOL requiresSecureCoding;
@property (readonly, copy, nullable) NSError *error;
- (void)encodeBytes:(nullable const uint8_t *)bytes length:(NSUInteger)length forKey:(NSString *)key; - (void)failWithError:(NSError *)error;
@end
@interface NSKeyedUnarchiver : NSCoder
- (nullable instancetype)initForReadingFromData:(NSData *)data error:(NSError **)error D;
- (void)finishDecoding; @property BOOL requiresSecureCoding;
@end
@interface NSKeyedArchiver : NSCoder
- (instancetype)initRequiringSecureCoding:(BOOL)secure D NAME("init(requiringSecureCoding:)");
+ (nullable NSData *)archivedDataWithRootObject:(id)object requiringSecureCoding:(BOOL)secure error:(NSError **)error NAME("archivedData(withRootObject:requiringSecureCoding:)");
- (void)finishEncoding; @property (readonly, strong) NSData *encodedData; @property BOOL requiresSecureCoding;
@end
// NSKeyValueCoding.h, NSKeyValueObserving.h
@interface NSObject (NSKeyValueCoding)
@property (class, readonly) BOOL accessInstanceVariablesDirectly;
- (nullable id)valueForKey:(NSString *)key;
- (void)setValuesForKeysWithDictionary:(NSDictionary<NSString *, id> *)keyedValues NAME("setValuesForKeys(_:)");
- (void)setValue:(nullable id)value forKey:(NSString *)key;
- (nullable id)valueForKeyPath:(NSString *)keyPath;
- (void)setValue:(nullable id)value forKeyPath:(NSString *)keyPath;
- (nullable id)valueForUndefinedKey:(NSString *)key;
- (void)setValue:(nullable id)value forUndefinedKey:(NSString *)key;
- (void)setNilValueForKey:(NSString *)key;
- (NSDictionary<NSString *, id> *)dictionaryWithValuesForKeys:(NSArray<NSString *> *)keys;
- (void)setValuesForKeysWithDictionary:(NSDictionary<NSString *, id> *)keyedValues NAME("setValuesForKeys(_:)");
@end
@interface NSObject (NSKeyValueObserving)
- (void)willChangeValueForKey:(NSString *)key; - (void)didChangeValueForKey:(NSString *)key;
@end
SENDABLE @interface NSPredicate : NSObject <NSSecureCoding, NSCopying>
+ (NSPredicate *)predicateWithFormat:(NSString *)f argumentArray:(nullable NSArray *)arguments;
+ (NSPredicate *)predicateWithValue:(BOOL)value;
@property (readonly, copy) NSString *predicateFormat;
- (instancetype)predicateWithSubstitutionVariables:(NSDictionary<NSString *, id> *)variables;
- (BOOL)evaluateWithObject:(nullable id)object;
- (BOOL)evaluateWithObject:(nullable id)object substitutionVariables:(nullable NSDictionary<NSString *, id> *)bindings;
@end
@class NSCompoundPredicate;
typedef NS_ENUM(NSUInteger, NSCompoundPredicateType, "NSCompoundPredicate.LogicalType") { NSNotPredicateType NAME("not") = 0, NSAndPredicateType NAME("and"), NSOrPredicateType NAME("or") };
@interface NSCompoundPredicate : NSPredicate
- (instancetype)initWithType:(NSCompoundPredicateType)type subpredicates:(NSArray<NSPredicate *> *)s D;
- (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@property (readonly) NSCompoundPredicateType compoundPredicateType;
@property (readonly, copy) NSArray *subpredicates;
+ (NSCompoundPredicate *)andPredicateWithSubpredicates:(NSArray<NSPredicate *> *)s __attribute__((swift_name("init(andPredicateWithSubpredicates:)")));
@end
// NSExpression.h, NSComparisonPredicate.h
typedef NS_ENUM(NSUInteger, NSExpressionType, "NSExpression.ExpressionType") {
  NSConstantValueExpressionType NAME("constantValue") = 0, NSEvaluatedObjectExpressionType NAME("evaluatedObject"),
  NSVariableExpressionType NAME("variable"), NSKeyPathExpressionType NAME("keyPath"), NSFunctionExpressionType NAME("function"),
  NSUnionSetExpressionType NAME("unionSet"), NSIntersectSetExpressionType NAME("intersectSet"), NSMinusSetExpressionType NAME("minusSet"),
  NSSubqueryExpressionType NAME("subquery") = 13, NSAggregateExpressionType NAME("aggregate") = 14, NSAnyKeyExpressionType NAME("anyKey") = 15,
  NSBlockExpressionType NAME("block") = 19, NSConditionalExpressionType NAME("conditional") = 20
};
SENDABLE @interface NSExpression : NSObject <NSSecureCoding, NSCopying>
- (instancetype)initWithExpressionType:(NSExpressionType)type D NAME("init(expressionType:)"); - (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@property (readonly) NSExpressionType expressionType; @property (nullable, readonly, retain) id constantValue;
@property (readonly, copy) NSString *keyPath; @property (readonly, copy) NSString *function; @property (readonly, copy) NSString *variable;
@property (readonly, copy) NSExpression *operand; @property (nullable, readonly, copy) NSArray<NSExpression *> *arguments;
@property (readonly, retain) id collection;
@end
typedef enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSComparisonPredicate.Options") NSComparisonPredicateOptions : NSUInteger NSComparisonPredicateOptions;
enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSComparisonPredicate.Options") NSComparisonPredicateOptions : NSUInteger {
  NSCaseInsensitivePredicateOption = 1, NSDiacriticInsensitivePredicateOption = 2, NSNormalizedPredicateOption = 4 };
typedef NS_ENUM(NSUInteger, NSComparisonPredicateModifier, "NSComparisonPredicate.Modifier") {
  NSDirectPredicateModifier NAME("direct") = 0, NSAllPredicateModifier NAME("all"), NSAnyPredicateModifier NAME("any") };
typedef NS_ENUM(NSUInteger, NSPredicateOperatorType, "NSComparisonPredicate.Operator") {
  NSLessThanPredicateOperatorType NAME("lessThan") = 0, NSLessThanOrEqualToPredicateOperatorType NAME("lessThanOrEqualTo"),
  NSGreaterThanPredicateOperatorType NAME("greaterThan"), NSGreaterThanOrEqualToPredicateOperatorType NAME("greaterThanOrEqualTo"),
  NSEqualToPredicateOperatorType NAME("equalTo"), NSNotEqualToPredicateOperatorType NAME("notEqualTo"),
  NSMatchesPredicateOperatorType NAME("matches"), NSLikePredicateOperatorType NAME("like"),
  NSBeginsWithPredicateOperatorType NAME("beginsWith"), NSEndsWithPredicateOperatorType NAME("endsWith"), NSInPredicateOperatorType NAME("`in`"),
  NSCustomSelectorPredicateOperatorType NAME("customSelector"), NSContainsPredicateOperatorType NAME("contains") = 99, NSBetweenPredicateOperatorType NAME("between") = 100
};
SENDABLE @interface NSComparisonPredicate : NSPredicate
- (nullable instancetype)initWithCoder:(NSCoder *)coder D;
@property (readonly) NSPredicateOperatorType predicateOperatorType; @property (readonly) NSComparisonPredicateModifier comparisonPredicateModifier;
@property (readonly, retain) NSExpression *leftExpression; @property (readonly, retain) NSExpression *rightExpression;
@property (nullable, readonly) SEL customSelector; @property (readonly) NSComparisonPredicateOptions options;
@end
typedef NS_CLOSED_ENUM(NSInteger, NSComparisonResult, "ComparisonResult") { NSOrderedAscending NAME("orderedAscending") = -1L, NSOrderedSame NAME("orderedSame"), NSOrderedDescending NAME("orderedDescending") };
@interface NSNumber (NSComparing) - (NSComparisonResult)compare:(NSNumber *)number; @end
SENDABLE @interface NSSortDescriptor : NSObject <NSSecureCoding, NSCopying>
- (instancetype)initWithKey:(nullable NSString *)key ascending:(BOOL)ascending;
- (instancetype)initWithKey:(nullable NSString *)key ascending:(BOOL)ascending selector:(nullable SEL)selector;
- (nullable instancetype)initWithCoder:(NSCoder *)coder;
@property (nullable, readonly, copy) NSString *key; @property (readonly) BOOL ascending;
- (NSComparisonResult)compareObject:(id)object1 toObject:(id)object2;
@property (readonly, retain) id reversedSortDescriptor;
@end
typedef NS_ENUM(NSInteger, NSQualityOfService, "QualityOfService") { NSQualityOfServiceUserInteractive = 0x21, NSQualityOfServiceUserInitiated = 0x19, NSQualityOfServiceUtility = 0x11, NSQualityOfServiceBackground = 0x09, NSQualityOfServiceDefault = -1 };
__attribute__((swift_name("Operation"))) SENDABLE @interface NSOperation : NSObject
- (void)start; - (void)main; - (void)cancel;
@property (readonly, getter=isCancelled) BOOL cancelled; @property (readonly, getter=isExecuting) BOOL executing; @property (readonly, getter=isFinished) BOOL finished;
@property (readonly, getter=isConcurrent) BOOL concurrent; @property (readonly, getter=isAsynchronous) BOOL asynchronous; @property (readonly, getter=isReady) BOOL ready;
@property NSQualityOfService qualityOfService; @property (nullable, copy) NSString *name;
@property (nullable, copy) void (^completionBlock)(void) SENDABLE;
@end
__attribute__((swift_name("OperationQueue"))) SENDABLE @interface NSOperationQueue : NSObject
- (void)addOperation:(NSOperation *)op __attribute__((swift_name("addOperation(_:)")));
- (void)addOperationWithBlock:(void (^ SENDABLE)(void))block NAME("addOperation(_:)"); @property (readonly) NSUInteger operationCount;
@property NSInteger maxConcurrentOperationCount; @property NSQualityOfService qualityOfService; @property (nullable, copy) NSString *name;
@end
SENDABLE @interface NSNotification : NSObject <NSCopying, NSCoding> @end
__attribute__((swift_name("NotificationCenter"))) SENDABLE @interface NSNotificationCenter : NSObject
@property (class, readonly, strong) NSNotificationCenter *defaultCenter; - (void)removeObserver:(id)o;
@end
__attribute__((swift_name("Progress"))) SENDABLE @interface NSProgress : NSObject @property int64_t totalUnitCount; @property int64_t completedUnitCount; @end
SENDABLE @interface NSTextCheckingResult : NSObject <NSCopying, NSSecureCoding> @property (readonly) NSRange range; @end
typedef enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSRegularExpression.Options") NSRegularExpressionOptions : NSUInteger NSRegularExpressionOptions;
enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSRegularExpression.Options") NSRegularExpressionOptions : NSUInteger { NSRegularExpressionCaseInsensitive = 1 };
typedef enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSRegularExpression.MatchingOptions") NSMatchingOptions : NSUInteger NSMatchingOptions;
enum __attribute__((flag_enum, enum_extensibility(open))) NAME("NSRegularExpression.MatchingOptions") NSMatchingOptions : NSUInteger { NSMatchingAnchored = 4 };
SENDABLE @interface NSRegularExpression : NSObject <NSCopying, NSSecureCoding>
- (nullable instancetype)initWithPattern:(NSString *)pattern options:(NSRegularExpressionOptions)options error:(NSError **)error D;
- (nullable NSTextCheckingResult *)firstMatchInString:(NSString *)string options:(NSMatchingOptions)options range:(NSRange)range NAME("firstMatch(in:options:range:)");
@end
__attribute__((swift_name("URLResponse"))) SENDABLE @interface NSURLResponse : NSObject <NSSecureCoding, NSCopying> @end
__attribute__((swift_name("HTTPURLResponse"))) SENDABLE @interface NSHTTPURLResponse : NSURLResponse @property (readonly) NSInteger statusCode; @property (readonly, copy) NSDictionary *allHeaderFields; @end
__attribute__((swift_name("FileManager"))) @interface NSFileManager : NSObject @property (class, readonly, strong) NSFileManager *defaultManager; - (BOOL)fileExistsAtPath:(NSString *)p; @end
__attribute__((swift_name("ProcessInfo"))) @interface NSProcessInfo : NSObject @property (class, readonly, strong) NSProcessInfo *processInfo; @property (readonly, copy) NSDictionary<NSString *, NSString *> *environment; @end
__attribute__((swift_name("Bundle"))) SENDABLE @interface NSBundle : NSObject @property (class, readonly, strong) NSBundle *mainBundle; @property (nullable, readonly, copy) NSString *bundleIdentifier; @end
__attribute__((swift_name("Thread"))) @interface NSThread : NSObject
- (instancetype)initWithBlock:(void (^ SENDABLE)(void))block NAME("init(block:)"); - (void)start; @property NSUInteger stackSize; @property (nullable, copy) NSString *name;
@property (class, readonly, strong) NSThread *currentThread NAME("current");
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds NAME("sleep(forTimeInterval:)");
@end
__attribute__((swift_name("FileHandle"))) SENDABLE @interface NSFileHandle : NSObject
@property (class, readonly, strong) NSFileHandle *fileHandleWithStandardInput NAME("standardInput"), *fileHandleWithStandardOutput NAME("standardOutput");
@property (class, readonly, strong) NSFileHandle *fileHandleWithStandardError NAME("standardError"), *fileHandleWithNullDevice NAME("nullDevice");
+ (nullable instancetype)fileHandleForWritingToURL:(NSURL *)url error:(NSError **)error NAME("init(forWritingTo:)");
+ (nullable instancetype)fileHandleForReadingFromURL:(NSURL *)url error:(NSError **)error NAME("init(forReadingFrom:)");
@property (readonly) int fileDescriptor;
@end
#pragma clang assume_nonnull end
