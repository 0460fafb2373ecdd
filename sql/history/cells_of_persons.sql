-- title: The persons who share all their classes in two releases: how many there are, and which classes
-- source: sqlmicro; whatever is computed from totals of the two is about all persons of a cell or about none, unless the
--   values of these have changed
-- reads: members (release, who, class, value) of release 0, which is about to be published, and another one
-- returns: cell (a number), persons, changed (whether the means of the two have other values of them), release, class; a row
--   for every class of a cell
-- params: members
SELECT cell, persons, changed, told.release AS release, told.class AS class
FROM (
  SELECT cell, persons, changed, unnest(classes) AS told
  FROM (
    SELECT row_number() OVER () - 1 AS cell, count(*) AS persons, changed, classes
    FROM (
      SELECT
        list(DISTINCT struct_pack(release := release, class := class)
          ORDER BY struct_pack(release := release, class := class)) AS classes,
        coalesce(
          list_sort(list(class) FILTER (WHERE release = 0)) <> list_sort(list(class) FILTER (WHERE release > 0))
          AND max(abs(value)) FILTER (WHERE release = 0) > 0
          AND max(abs(value)) FILTER (WHERE release > 0) > 0
          AND (min(value) = -1 OR sum(value) FILTER (WHERE release = 0) % 1152921504606846976
            <> sum(value) FILTER (WHERE release > 0) % 1152921504606846976), false) AS changed
      FROM {{ members | ident }}
      GROUP BY who)
    GROUP BY classes, changed))
