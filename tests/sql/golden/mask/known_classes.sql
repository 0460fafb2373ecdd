-- title: The classes of a local recoding, in the order in which a record is tried
-- source: sqlmicro
-- reads: nothing, the classes stand here
-- returns: place, the strata as text, and per column its level (0 is the value as it is) and its value as text
-- params: classes (how many), strata (name, texts), columns (level, value, levels, values)
SELECT
  unnest(range(2)) AS place
  , unnest(CAST(['a', NULL] AS VARCHAR[])) AS "stratum_1"
  , unnest([0, 1]) AS "level_1"
  , unnest(CAST(['5', '*'] AS VARCHAR[])) AS "value_1"
