-- title: The rows of CSV files
-- source: DuckDB, read_csv; options are passed on as they are given
-- reads: the files
-- returns: the columns of the files
-- params: paths, options
SELECT *
FROM read_csv(['o''hara.csv', 'b.csv'], "delim" = ';', "header" = true)
