-- title: The persons who share all their classes in two releases: how many there are, and which classes
-- source: sqlmicro; whatever is computed from totals of the two is about all persons of a cell or about none
-- reads: members (release, who, class) of release 0, which is about to be published, and another one
-- returns: cell (a number), persons, release, class; a row for every class of a cell
-- params: members
SELECT cell, persons, told.release AS release, told.class AS class
FROM (
  SELECT cell, persons, unnest(classes) AS told
  FROM (
    SELECT row_number() OVER () - 1 AS cell, count(*) AS persons, classes
    FROM (
      SELECT
        list(DISTINCT struct_pack(release := release, class := class)
          ORDER BY struct_pack(release := release, class := class)) AS classes
      FROM "staging"."members"
      GROUP BY who)
    GROUP BY classes))
