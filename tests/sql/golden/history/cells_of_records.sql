-- title: The records that share their classes in two releases: how many there are, and which classes
-- source: sqlmicro; as history/cells_of_persons.sql, where everybody has one class in each release. Release 0 is the one
--   that is about to be published
-- reads: members (release, who, class, value) of release 0 and another one
-- returns: class (in release 0), other (in the other one), -1 where they are not in it; changed (whether the means of the two
--   have other values of them); persons
-- params: members
SELECT class, other, changed, count(*) AS persons
FROM (
  SELECT
    class,
    other,
    class <> other AND class >= 0 AND other >= 0 AND value <> 0 AND was <> 0 AND (value <> was OR value = -1) AS changed
  FROM (
    SELECT
      coalesce(min(class) FILTER (WHERE release = 0), -1) AS class,
      coalesce(min(class) FILTER (WHERE release > 0), -1) AS other,
      coalesce(min(value) FILTER (WHERE release = 0), 0) AS value,
      coalesce(min(value) FILTER (WHERE release > 0), 0) AS was
    FROM "staging"."members"
    GROUP BY who))
GROUP BY class, other, changed
