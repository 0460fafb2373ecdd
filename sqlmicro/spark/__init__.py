"""The same job on Spark, for tables that do not fit one machine. May import `jobs` and what is below it.

Start reading at `engine.release`. `engine` runs the verbs of the pipeline. `warehouse` runs the templates, which
`translate` brings into Spark's SQL. `blocks` has what differs from one machine: records are cut into blocks of near
ones, and `worker` groups them in Spark's Python workers. `tests/bench/README.md` has figures, and the arithmetic for
10^9 records.
"""
