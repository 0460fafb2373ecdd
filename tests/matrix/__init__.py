"""Every method with every pair of what can be asked beside it: what works, what is refused, and why."""
