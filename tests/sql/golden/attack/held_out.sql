-- title: The records of the people who are held out of a rehearsal, or of all others
-- source: Giomi, Boenisch, Wehmeyer & Tasnadi (2023): a control group that was not in the table
-- reads: relation; drawn (position: numbers of people, from 0)
-- returns: the columns under their own names, in the order of the table
-- params: relation, drawn, columns, unit, held
SELECT
  "who" AS "who",
  "net ""income""" AS "net ""income"""
FROM (
  SELECT *
  FROM (
    SELECT
      *,
      dense_rank() OVER (ORDER BY "who") - 1 AS unit
    FROM (
      SELECT
        row_number() OVER () AS position,
        "who" AS "who", "net ""income""" AS "net ""income"""
      FROM "staging"."people"
    )
  )
  WHERE (unit IN (SELECT position FROM "staging"."drawn")) = true
  ORDER BY position
)
