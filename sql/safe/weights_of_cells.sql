-- title: The weight of one record of every cell
-- source: sqlmicro; all records of a cell have the same
-- reads: cells
-- returns: in the order of cell: weight
-- params: cells, weights
SELECT CAST({{ weights | ident }} AS DOUBLE) AS weight
FROM {{ cells | ident }}
ORDER BY cell
