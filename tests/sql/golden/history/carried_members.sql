-- title: The classes of the persons of a night of a series, and what the means of these have of them
-- source: sqlmicro; a mean has what its founders had when they founded it, and nothing of who came later. Who has left, or lost
--   her seat, was published: somebody unknown stands for her, a number that is made of nothing of hers
-- reads: classes (who, class, value: -1 of who founds none tonight), memory (release, who, class, value)
-- returns: who, class, value
-- params: classes, memory, last (release of the night before)
SELECT c.who, c.class, CASE WHEN c.value = -1 THEN coalesce(m.value, -1) ELSE c.value END AS value
FROM "staging"."classes" AS c
LEFT JOIN (SELECT who, class, value FROM "staging"."memory" WHERE release = 4) AS m USING (who, class)
UNION ALL
SELECT
  CAST(hash(4, m.class, row_number() OVER (PARTITION BY m.class ORDER BY m.who)) >> 4 AS BIGINT) AS who,
  m.class,
  -1 AS value
FROM "staging"."memory" AS m
ANTI JOIN "staging"."classes" AS c ON m.who = c.who
WHERE m.release = 4
