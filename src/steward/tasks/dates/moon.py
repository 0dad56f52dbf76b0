"""The sun and the moon, as exactly as calendars need them: a few minutes for a new moon, .1 degree otherwise.

After Jean Meeus, "Astronomical Algorithms", with the largest terms only. Owns no holidays.
Moments are days since 2000-01-01 12:00 UTC.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import cos, radians, sin

_EPOCH = datetime(2000, 1, 1, 12, tzinfo=UTC)
_MONTH = 29.530588861
_PLANETS = (
    (0.000325, 299.77, 0.107408),
    (0.000165, 251.88, 0.016321),
    (0.000164, 251.83, 26.651886),
    (0.000126, 349.42, 36.412478),
    (0.00011, 84.66, 18.206239),
    (0.000062, 141.74, 53.303771),
    (0.00006, 207.14, 2.453732),
    (0.000056, 154.84, 7.30686),
)
_DELTA_T = 69 / 86400  # terrestrial minus universal time; it changes by a minute in a century


def moment_of(day: date, hour: float) -> float:
    """The moment at an hour of universal time on a day."""
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - _EPOCH).total_seconds() / 86400 + hour / 24


def day_of(moment: float, *, offset: float) -> date:
    """The day on which a moment falls where clocks are so many hours ahead of UTC."""
    return (_EPOCH + timedelta(days=moment, hours=offset)).date()


def _sine(degrees: float) -> float:
    return sin(radians(degrees % 360))


@lru_cache(maxsize=512)
def new_moon(lunation: int) -> float:
    """The moment of a new moon; lunation 0 is that of 6 January 2000."""
    k = float(lunation)
    t = k / 1236.85
    base = 5.09766 + _MONTH * k + 0.00015437 * t * t
    eccentricity = 1 - 0.002516 * t
    sun = 2.5534 + 29.1053567 * k
    moon = 201.5643 + 385.81693528 * k + 0.0107582 * t * t
    node = 160.7108 + 390.67050284 * k - 0.0016118 * t * t
    correction = (
        -0.4072 * _sine(moon)
        + 0.17241 * eccentricity * _sine(sun)
        + 0.01608 * _sine(2 * moon)
        + 0.01039 * _sine(2 * node)
        + 0.00739 * eccentricity * _sine(moon - sun)
        - 0.00514 * eccentricity * _sine(moon + sun)
        + 0.00208 * eccentricity**2 * _sine(2 * sun)
        - 0.00111 * _sine(moon - 2 * node)
        - 0.00057 * _sine(moon + 2 * node)
        + 0.00056 * eccentricity * _sine(2 * moon + sun)
        - 0.00042 * _sine(3 * moon)
        + 0.00042 * eccentricity * _sine(sun + 2 * node)
        + 0.00038 * eccentricity * _sine(sun - 2 * node)
        - 0.00024 * eccentricity * _sine(2 * moon - sun)
    )
    omega = 124.7746 - 1.56375588 * k
    correction -= 0.00017 * _sine(omega)
    planets = sum(size * _sine(start + rate * k) for size, start, rate in _PLANETS)
    return base + correction + planets - _DELTA_T


def lunation_before(moment: float) -> int:
    """The last new moon at or before a moment."""
    guess = int((moment - 5.6) // _MONTH) + 1
    while new_moon(guess) > moment:
        guess -= 1
    return guess


def sun_longitude(moment: float) -> float:
    """Apparent longitude of the sun in degrees."""
    anomaly = 357.52911 + 0.98560028 * moment
    centre = 1.914602 * _sine(anomaly) + 0.019993 * _sine(2 * anomaly) + 0.000289 * _sine(3 * anomaly)
    return (280.46646 + 0.98564736 * moment + centre - 0.00569) % 360


def moon_longitude(moment: float) -> float:
    """Longitude of the moon in degrees."""
    mean = 218.3164477 + 13.17639648 * moment
    elongation = 297.8501921 + 12.19074912 * moment
    sun = 357.5291092 + 0.98560028 * moment
    moon = 134.9633964 + 13.06499295 * moment
    node = 93.272095 + 13.22935024 * moment
    return (
        mean
        + 6.288774 * _sine(moon)
        + 1.274027 * _sine(2 * elongation - moon)
        + 0.658314 * _sine(2 * elongation)
        + 0.213618 * _sine(2 * moon)
        - 0.185116 * _sine(sun)
        - 0.114332 * _sine(2 * node)
        + 0.058793 * _sine(2 * elongation - 2 * moon)
        + 0.057066 * _sine(2 * elongation - sun - moon)
        + 0.053322 * _sine(2 * elongation + moon)
        + 0.045758 * _sine(2 * elongation - sun)
        - 0.040923 * _sine(sun - moon)
        - 0.03472 * _sine(elongation)
        - 0.030383 * _sine(sun + moon)
        + 0.015327 * _sine(2 * elongation - 2 * node)
    ) % 360


def sidereal(longitude: float, moment: float) -> float:
    """The longitude against the stars (Lahiri), as Indian calendars count it."""
    return (longitude - 23.857 - 0.0000382 * moment) % 360


def tithi(moment: float) -> int:
    """The lunar day, 1 to 30: 15 ends at the full moon, 30 at the new moon."""
    return int(((moon_longitude(moment) - sun_longitude(moment)) % 360) // 12) + 1


def moonset_after_sunset(day: date, *, latitude: float, sunset: float) -> bool:
    """Whether the young moon still stands above the horizon at sunset (roughly)."""
    moment = moment_of(day, sunset)
    ahead = (moon_longitude(moment) - sun_longitude(moment) + 180) % 360 - 180
    node = 93.272095 + 13.22935024 * moment
    height = 5.128 * _sine(node) * cos(radians(latitude))
    return ahead + 0.3 * height > 0
