-- title: The values of a nominal column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  CASE
    WHEN count(DISTINCT {{ column | ident }}) = 1 THEN CAST(min({{ column | ident }}) AS VARCHAR)
    ELSE '{' || array_to_string(list_sort(list(DISTINCT CAST({{ column | ident }} AS VARCHAR))), ', ') || '}'
  END
  || CASE WHEN count(*) > count({{ column | ident }}) THEN ' or missing' ELSE '' END AS {{ column | ident }}
FROM {{ grouped | ident }}
GROUP BY label
