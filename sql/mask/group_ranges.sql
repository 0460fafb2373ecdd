-- title: The range of a numeric column in every group, as text, and its ends
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped
-- returns: label, low, high, nothing (whether a value is missing), the column
-- params: grouped, column
SELECT
  label,
  low,
  high,
  nothing,
  CASE WHEN low = high THEN low ELSE '[' || low || ', ' || high || ']' END
  || CASE WHEN nothing THEN ' or missing' ELSE '' END AS {{ column | ident }}
FROM (
  SELECT
    label,
    CAST(min({{ column | ident }}) AS VARCHAR) AS low,
    CASE WHEN min({{ column | ident }}) = max({{ column | ident }}) THEN CAST(min({{ column | ident }}) AS VARCHAR)
      ELSE CAST(max({{ column | ident }}) AS VARCHAR) END AS high,
    count(*) > count({{ column | ident }}) AS nothing
  FROM {{ grouped | ident }}
  GROUP BY label)
