-- title: The range of a timestamp column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped (microseconds since 1970)
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
    make_timestamp(CAST(min({{ column | ident }}) AS BIGINT)) AS low,
    make_timestamp(CAST(max({{ column | ident }}) AS BIGINT)) AS high,
    count(*) > count({{ column | ident }}) AS missing
  FROM {{ grouped | ident }}
  GROUP BY label)
