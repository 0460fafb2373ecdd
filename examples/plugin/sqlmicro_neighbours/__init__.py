"""A plug-in of sqlmicro: one method, one audit, one limit, one attack."""
