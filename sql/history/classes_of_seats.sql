-- title: The class of every person of a night of a series, as history/classes_of_records.sql has it
-- source: sqlmicro; a class of the series is one of the release, whoever sits in it. Its means are those of its founders
-- reads: members (who, label), groups (row_id, label), classed (row_id, class), founders (row_id, who, label: of tonight), original
--   (as it was loaded)
-- returns: who, class, value (a sum of keyed hashes of what was averaged of a founder of tonight, modulo 2^60, -1 of others; 0
--   where nothing is)
-- params: stream (variable with the key), members, groups, classed, founders, original, averaged (columns of original),
--   otherwise (-1, or 0 where nothing is averaged)
SELECT
  m.who,
  l.class,
  CASE
    WHEN count(f.value) = 0 THEN {{ otherwise | lit }}
    ELSE CAST(sum(f.value) % 1152921504606846976 AS BIGINT)
  END AS value
FROM {{ members | ident }} AS m
JOIN (
  SELECT g.label, any_value(c.class) AS class
  FROM {{ classed | ident }} AS c
  JOIN {{ groups | ident }} AS g USING (row_id)
  GROUP BY g.label) AS l USING (label)
LEFT JOIN (
  SELECT person AS who, label, {{ stream | drawn_of("record", averaged) }} AS value
  FROM {{ original | ident }}
  JOIN (SELECT row_id, who AS person, label FROM {{ founders | ident }}) USING (row_id)) AS f USING (who, label)
GROUP BY m.who, l.class
