-- title: The rows of Parquet files
-- source: DuckDB, read_parquet
-- reads: the files
-- returns: the columns of the files
-- params: paths, options
SELECT *
FROM read_parquet(['a.parquet', 'b.parquet'])
