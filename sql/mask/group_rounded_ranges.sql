-- title: The range of a floating-point column in every group, as text with few digits, and its ends
-- source: LeFevre, DeWitt & Ramakrishnan (2006); sqlmicro: an end is rounded outwards, to as many decimal places as keep it
--   nearer than the middle of the way to the next value that occurs, where that is shorter. So ranges that were apart stay so
-- reads: grouped
-- returns: label, low, high, nothing (whether a value is missing), the column
-- params: grouped, column
WITH occurring AS (
  SELECT
    value,
    lag(value) OVER (ORDER BY value) / 2 + value / 2 AS below,
    lead(value) OVER (ORDER BY value) / 2 + value / 2 AS above
  FROM (SELECT DISTINCT {{ column | ident }} AS value FROM {{ grouped | ident }})
),
groups AS (
  SELECT
    label,
    min({{ column | ident }}) AS least,
    max({{ column | ident }}) AS most,
    count(*) > count({{ column | ident }}) AS nothing
  FROM {{ grouped | ident }}
  GROUP BY label
),
units AS (
  SELECT
    g.label,
    g.least,
    g.most,
    g.nothing,
    l.below,
    h.above,
    CASE WHEN g.least - l.below BETWEEN 1e-15 AND 1e15 THEN pow(1e1, greatest(ceil(-log10(g.least - l.below)), 0)) END AS of_low,
    CASE WHEN h.above - g.most BETWEEN 1e-15 AND 1e15 THEN pow(1e1, greatest(ceil(-log10(h.above - g.most)), 0)) END AS of_high
  FROM groups AS g
  LEFT JOIN occurring AS l ON g.least = l.value
  LEFT JOIN occurring AS h ON g.most = h.value
),
rounded AS (
  SELECT
    label,
    least,
    most,
    nothing,
    CAST(least AS VARCHAR) AS least_text,
    CAST(most AS VARCHAR) AS most_text,
    CASE WHEN floor(least * of_low) / of_low <= least AND floor(least * of_low) / of_low > below
      THEN CAST(floor(least * of_low) / of_low AS VARCHAR) END AS down,
    CASE WHEN ceil(most * of_high) / of_high >= most AND ceil(most * of_high) / of_high < above
      THEN CAST(ceil(most * of_high) / of_high + 0 AS VARCHAR) END AS up
  FROM units
),
ends AS (
  SELECT
    label,
    nothing,
    CASE WHEN least < most AND length(down) < length(least_text) THEN down ELSE least_text END AS low,
    CASE WHEN least = most THEN least_text WHEN length(up) < length(most_text) THEN up ELSE most_text END AS high
  FROM rounded
)
SELECT
  label,
  low,
  high,
  nothing,
  CASE WHEN low = high THEN low ELSE '[' || low || ', ' || high || ']' END
  || CASE WHEN nothing THEN ' or missing' ELSE '' END AS {{ column | ident }}
FROM ends
