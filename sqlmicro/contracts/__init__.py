"""What every method, audit, attack and limit must keep, as tests that other packages run too. May import all but `cli`.

A package with a method of its own runs them with `pytest -p sqlmicro.contracts.plugin --contract NAME`.
"""
