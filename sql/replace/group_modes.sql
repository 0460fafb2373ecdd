-- title: The most frequent value of one nominal column in every group
-- source: Domingo-Ferrer & Torra (2005); of equally frequent values the smallest is taken, NULL last
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  {{ column | ident }}
FROM (
  SELECT label, {{ column | ident }}, count(*) AS n
  FROM {{ grouped | ident }}
  GROUP BY label, {{ column | ident }})
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, {{ column | ident }} NULLS LAST) = 1
