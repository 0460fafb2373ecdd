-- title: The range of a timestamp column in every group, as text, and its ends
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped (microseconds since 1970)
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
    CAST(make_timestamp(CAST(min({{ column | ident }}) AS BIGINT)) AS VARCHAR) AS low,
    CAST(make_timestamp(CAST(max({{ column | ident }}) AS BIGINT)) AS VARCHAR) AS high,
    count(*) > count({{ column | ident }}) AS nothing
  FROM {{ grouped | ident }}
  GROUP BY label)
