"""SAFE: every record at least k times, every table nearly as it was."""

from sqlmicro.safe_method import method as method
