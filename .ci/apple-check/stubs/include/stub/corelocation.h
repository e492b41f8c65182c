// Written by hand for apple-check: names and signatures only. Not a system header.
#pragma once
#include "foundation.h"
#pragma clang assume_nonnull begin
typedef double CLLocationDegrees; typedef double CLLocationAccuracy; typedef double CLLocationSpeed;
typedef double CLLocationDirection; typedef double CLLocationDistance;
struct CLLocationCoordinate2D { CLLocationDegrees latitude; CLLocationDegrees longitude; };
typedef struct CLLocationCoordinate2D CLLocationCoordinate2D;
extern const CLLocationCoordinate2D kCLLocationCoordinate2DInvalid;
bool CLLocationCoordinate2DIsValid(CLLocationCoordinate2D coord);
CLLocationCoordinate2D CLLocationCoordinate2DMake(CLLocationDegrees latitude, CLLocationDegrees longitude);
@interface CLLocation : NSObject <NSCopying, NSSecureCoding>
- (instancetype)initWithLatitude:(CLLocationDegrees)latitude longitude:(CLLocationDegrees)longitude;
- (instancetype)initWithCoordinate:(CLLocationCoordinate2D)coordinate altitude:(CLLocationDistance)altitude
  horizontalAccuracy:(CLLocationAccuracy)hAccuracy verticalAccuracy:(CLLocationAccuracy)vAccuracy timestamp:(NSDate *)timestamp;
- (instancetype)initWithCoordinate:(CLLocationCoordinate2D)coordinate altitude:(CLLocationDistance)altitude
  horizontalAccuracy:(CLLocationAccuracy)hAccuracy verticalAccuracy:(CLLocationAccuracy)vAccuracy
  course:(CLLocationDirection)course speed:(CLLocationSpeed)speed timestamp:(NSDate *)timestamp;
@property (readonly) CLLocationCoordinate2D coordinate; @property (readonly) CLLocationDistance altitude;
@property (readonly) CLLocationAccuracy horizontalAccuracy; @property (readonly) CLLocationAccuracy verticalAccuracy;
@property (readonly) CLLocationDirection course; @property (readonly) CLLocationSpeed speed;
@property (readonly, copy) NSDate *timestamp;
- (CLLocationDistance)distanceFromLocation:(const CLLocation *)location NAME("distance(from:)");
@end
#pragma clang assume_nonnull end
