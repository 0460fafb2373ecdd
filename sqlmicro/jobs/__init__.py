"""Jobs: steps, plans, running them, job files, drafts, explanations, the schema. Imports reports and all below."""
