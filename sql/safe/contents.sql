-- title: The values of the cells as 64 bits each, the same in every file
-- source: sqlmicro: what is keyed by content must not depend on which other values a file has
-- reads: cells
-- returns: in the order of cell: a number per column (of the value as text; NULL has one too)
-- params: cells, columns
SELECT
  {{ columns | listed("hash(CAST({} AS VARCHAR)) AS {}, ") }}cell
FROM {{ cells | ident }}
ORDER BY cell
