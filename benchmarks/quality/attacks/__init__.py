"""Attacks from outside: requests, command lines, kills, hostile texts; a long day of use."""
