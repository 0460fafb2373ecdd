"""What has nothing to do with records: scratch folders, locks, signals, progress, secrets. May import `errors`."""
