"""What a release is worth, measured."""
