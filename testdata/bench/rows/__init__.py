"""The rows of the bench, one file a subject. See ../README.md."""
