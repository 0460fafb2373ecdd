-- title: The values of a column in the order of others: the record with the r-th smallest score gets the r-th smallest
--   value
-- source: Sullivan (1989), the transformation back
-- reads: relation, scores
-- returns: row_id, value
-- params: relation, scores, column
SELECT
  s.row_id,
  v.value
FROM (
  SELECT
    row_id,
    row_number() OVER (ORDER BY {{ column | ident }}, row_id) AS position
  FROM {{ scores | ident }}
  WHERE {{ column | ident }} IS NOT NULL
) AS s
JOIN (
  SELECT
    {{ column | ident }} AS value,
    row_number() OVER (ORDER BY {{ column | ident }}) AS position
  FROM {{ relation | ident }}
  WHERE {{ column | ident }} IS NOT NULL
) AS v USING (position)
