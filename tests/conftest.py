"""Settings of all property tests: no test asserts a wall-clock time."""

from hypothesis import settings

settings.register_profile("recombine", deadline=None)
settings.load_profile("recombine")
