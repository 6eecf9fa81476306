"""Attacks from outside: secrets that must not be kept, hostile texts that must do nothing."""
