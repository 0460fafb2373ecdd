-- title: The class of every record of a release, and its sensitive value, by their numbers
-- source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), homogeneity attack; NULL is a value of its own
-- reads: relation (values)
-- returns: label, code (of the sensitive value), both from 0, in the order of the table
-- params: relation, columns, sensitive
SELECT label, code
FROM (
  SELECT
    position,
    dense_rank() OVER (ORDER BY {{ columns | idents }}) - 1 AS label,
    dense_rank() OVER (ORDER BY {{ sensitive | ident }}) - 1 AS code
  FROM (SELECT *, row_number() OVER () AS position FROM {{ relation | ident }}))
ORDER BY position
