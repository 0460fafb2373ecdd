"""What there is to know of a job file without running it: its schema, a draft of one, and what one will do."""
