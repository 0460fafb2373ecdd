-- title: The smallest value of every column, and how far the largest is from it
-- source: sqlmicro
-- reads: relation
-- returns: one row: low_i and width_i of the columns, counted from 1
-- params: relation, columns
SELECT{{ columns | listed("
  min(CAST({} AS DOUBLE)) AS low_{n},
  max(CAST({} AS DOUBLE)) - low_{n} AS width_{n}") }}
FROM {{ relation | ident }}
