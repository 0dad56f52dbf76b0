"""The one place that chooses: settings in, a running `Platform` out."""

from steward.bootstrap.platform import Platform, open_platform

__all__ = ["Platform", "open_platform"]
