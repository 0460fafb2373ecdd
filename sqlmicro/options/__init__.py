"""Options, declared once as fields of classes or parameters of functions. May import `system`."""
