-- title: The range of a numeric column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  CASE
    WHEN min({{ column | ident }}) = max({{ column | ident }}) THEN CAST(min({{ column | ident }}) AS VARCHAR)
    ELSE '[' || CAST(min({{ column | ident }}) AS VARCHAR) || ', ' || CAST(max({{ column | ident }}) AS VARCHAR) || ']'
  END
  || CASE WHEN count(*) > count({{ column | ident }}) THEN ' or missing' ELSE '' END AS {{ column | ident }}
FROM {{ grouped | ident }}
GROUP BY label
