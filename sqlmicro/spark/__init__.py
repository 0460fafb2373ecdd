"""The same job on Spark, for tables that do not fit one machine: `--engine spark`; start reading at `engine.release`.

`engine` runs the verbs of the pipeline, `warehouse` the templates, which `translate` brings into Spark's SQL. `blocks`
has what is different: records are cut into blocks of near ones, `worker` groups them in Spark's Python workers.

Arithmetic for 10^9 records of p = 4 columns, k = 5
---------------------------------------------------
Blocks. Cut while there are more than 20,000 records: 16 levels, 65,536 blocks of 15,000; then, twice, about 80,000
shifted blocks of 6,000 to 20,000. The cuts of a level come from a sample of 256 records for each 20,000: 13 million
rows of 56 bytes, 0.7 GB, read from memory once a level. To the driver come the cuts and the sizes of the blocks, 80,000
rows of some 30 bytes, 2.4 MB; every task gets the cuts, as a Python dict of some 20 MB.

Bytes of a record on its way through a shuffle, before compression (Spark compresses with LZ4):

====================================================  =====================================  ========
shuffle                                               bytes of a record                      10^9
====================================================  =====================================  ========
1  records to their blocks                            row_id, stratum, block, 4 columns: 60  60 GB
2  groups to shifted blocks, twice                    and label, 4 means: 100                200 GB
3  labels to the records, two sides of a join         16 and 40                              56 GB
4  groups to their means, two sides of a join         16 and 40, twice                       112 GB
5  new values to the records, two sides of a join     40 and 40                              80 GB
6  the order of the release, by row_id                40                                     40 GB
7  the audit: classes of the release as written       32, equal rows combined before         32 GB
8  the order of the records at load, by keyed hash    32 and the sort key of 64              96 GB
====================================================  =====================================  ========

676 GB in all, written once and read once. At 200 MB/s for each of 100 cores that is a minute of each core; no shuffle
depends on k or on the number of blocks. What is persisted is the typed table twice, the standardised columns, the
groups of each pass and the release: some 370 bytes a record, 370 GB in memory or on local disks.

Processors. Measured in one process on one core (process time), blocks of 16,000 records of 4 columns, k = 5, compiled
code warm: MDAV 3 microseconds a record, microaggregate with quality fast 6, balanced 83; each search across borders 12
to 14. For 10^9 records that is 8 hours of one core for fast and 30 for balanced: 5 and 18 minutes on 100 cores. All
processes of a balanced run together took 260 microseconds a record more at 10^6 records than at 10^5, on a machine
whose cores were shared: 73 hours of a core for 10^9, if nothing else grows. At 0.05 dollars for an hour of a core that
is about 4 dollars.

What does not scale: `individual-ranking` computes its moving means in one window over a column, in one task; so do the
window functions of templates that number all records by an order of their own.
"""
