-- title: The rows of a Delta or Iceberg table in a folder
-- source: DuckDB's extensions, delta_scan and iceberg_scan
-- reads: the files of the newest version
-- returns: the columns of the table
-- params: function, path
SELECT *
FROM {{ function | ident }}({{ path | lit }})
