"""What people do to plans."""
