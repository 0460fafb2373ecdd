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
  || CASE WHEN missing THEN ' or missing' ELSE '' END AS "born"
FROM (
  SELECT
    label,
    DATE '1970-01-01' + CAST(min("born") AS INTEGER) AS low,
    DATE '1970-01-01' + CAST(max("born") AS INTEGER) AS high,
    count(*) > count("born") AS missing
  FROM "staging"."grouped"
  GROUP BY label)
