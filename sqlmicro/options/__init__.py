"""Options, declared once: fields of classes, parameters of functions; all who take them read that. Imports system."""
