-- title: People whose records the release was made from, and people of a control group
-- source: Giomi, Boenisch, Wehmeyer & Tasnadi (2023): the same attack on people who were not in the table
-- reads: original, control
-- returns: the columns under their own names, first the records of the original, then those of the control group, each
--   in the order of its table
-- params: original, control, columns
SELECT
  "net ""income""" AS "net ""income""",
  "who" AS "who"
FROM (
  SELECT
    0 AS source,
    row_number() OVER () AS position,
    "net ""income""" AS "net ""income""", "who" AS "who"
  FROM "staging"."original"
  UNION ALL
  SELECT
    1,
    row_number() OVER (),
    "net ""income""", "who"
  FROM "staging"."control"
) AS people
ORDER BY people.source, people.position
