"""SAFE: every record occurs at least k times, and the cross tables stay close. May import `group` and what is
below it."""

from sqlmicro.safe_method import method as method
