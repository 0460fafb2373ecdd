"""Contracts: what every method, audit and attack keeps; tests that other packages run too. Imports all but `cli`.

A package that brings a method of its own runs them with `pytest -p sqlmicro.contracts.plugin --contract NAME`.
"""
