-- title: The share of the commonest value of a column
-- source: sqlmicro: whoever guesses it is right as often without any release
-- reads: original (cells)
-- returns: one row: commonest (of the records); NULL is a value
-- params: original, column
SELECT CAST(max(n) AS DOUBLE) / sum(n) AS commonest
FROM (
  SELECT sum(records) AS n
  FROM {{ original | ident }}
  GROUP BY {{ column | ident }}
) AS by_value
