"""Parameters, declared once in a signature; commands, job files and Python calls read them. May import `system`."""
