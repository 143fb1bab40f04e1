"""A result's name says what it depends on, no less and no more."""
