"""The one root of what ginsim raises on purpose."""


class GinsimError(ValueError):
    """Wrong use or bad input: one line that says what, where and the fix."""
