-- title: The class of every person of a night of a series, as history/classes_of_records.sql has it
-- source: sqlmicro; a class of the series is one of the release, whoever sits in it
-- reads: members (who, label), groups (row_id, label), classed (row_id, class)
-- returns: who, class
-- params: members, groups, classed
SELECT m.who, l.class
FROM "staging"."members" AS m
JOIN (
  SELECT g.label, any_value(c.class) AS class
  FROM "staging"."classed" AS c
  JOIN "staging"."groups" AS g USING (row_id)
  GROUP BY g.label) AS l USING (label)
