-- title: The range of a date column in every group, as text, and its ends
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped (days since 1970)
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
    CAST(DATE '1970-01-01' + CAST(min({{ column | ident }}) AS INTEGER) AS VARCHAR) AS low,
    CAST(DATE '1970-01-01' + CAST(max({{ column | ident }}) AS INTEGER) AS VARCHAR) AS high,
    count(*) > count({{ column | ident }}) AS nothing
  FROM {{ grouped | ident }}
  GROUP BY label)
