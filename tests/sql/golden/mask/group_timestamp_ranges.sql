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
  || CASE WHEN missing THEN ' or missing' ELSE '' END AS "seen"
FROM (
  SELECT
    label,
    make_timestamp(CAST(min("seen") AS BIGINT)) AS low,
    make_timestamp(CAST(max("seen") AS BIGINT)) AS high,
    count(*) > count("seen") AS missing
  FROM "staging"."grouped"
  GROUP BY label)
