-- title: The range of a date column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped (days since 1970)
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  CASE
    WHEN low = high THEN CAST(low AS VARCHAR)
    ELSE '[' || CAST(low AS VARCHAR) || ', ' || CAST(high AS VARCHAR) || ']'
  END
  || CASE WHEN missing THEN ' or missing' ELSE '' END AS {{ column | ident }}
FROM (
  SELECT
    label,
    DATE '1970-01-01' + CAST(min({{ column | ident }}) AS INTEGER) AS low,
    DATE '1970-01-01' + CAST(max({{ column | ident }}) AS INTEGER) AS high,
    count(*) > count({{ column | ident }}) AS missing
  FROM {{ grouped | ident }}
  GROUP BY label)
