"""Jobs: steps, the plan of a job, running it, job files, drafts, explanations, the schema. Imports reports and all below."""
