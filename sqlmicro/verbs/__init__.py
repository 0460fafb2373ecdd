"""What the commands do, one module each with its options, loaded when the command is called. May import `spark` and
what is below it."""
