"""A job from its file to its release: steps, plan, run, draft, explanation, schema. May import `reports` and what is
below it."""
