-- title: The records that share their classes in two releases: how many there are, and which classes
-- source: sqlmicro; as history/cells_of_persons.sql, where everybody has one class in each release. Release 0 is the one
--   that is about to be published
-- reads: members (release, who, class) of release 0 and another one
-- returns: class (in release 0), other (in the other one), -1 where they are not in it; persons
-- params: members
SELECT class, other, count(*) AS persons
FROM (
  SELECT
    coalesce(min(class) FILTER (WHERE release = 0), -1) AS class,
    coalesce(min(class) FILTER (WHERE release > 0), -1) AS other
  FROM "staging"."members"
  GROUP BY who)
GROUP BY class, other
