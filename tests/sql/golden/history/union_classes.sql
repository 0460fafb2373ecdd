-- title: How many persons share their classes in all releases of the same people, at least
-- source: sqlmicro; Ganta, Kasiviswanathan & Smith (2008), composition attacks. Who is missing in a release shares that
--   with all who are: who came or left alone is told by it
-- reads: members (release, who, class), each once, of every release that may be out; release 0 is the one to be published
-- returns: one row: persons, fewest (who share all their classes), below (persons who share them with fewer than k),
--   known (persons of the release to be published who are in another one), of_release (all of its persons)
-- params: members, k
SELECT
  CAST(coalesce(sum(alike), 0) AS BIGINT) AS persons,
  coalesce(min(alike), 0) AS fewest,
  CAST(coalesce(sum(alike) FILTER (WHERE alike < 2), 0) AS BIGINT) AS below,
  CAST(coalesce(sum(known), 0) AS BIGINT) AS known,
  CAST(coalesce(sum(of_release), 0) AS BIGINT) AS of_release
FROM (
  SELECT count(*) AS alike, count(*) FILTER (WHERE first = 0 AND last > 0) AS known, count(*) FILTER (WHERE first = 0) AS of_release
  FROM (
    SELECT
      who,
      min(release) AS first,
      max(release) AS last,
      -- Two hashes of all her classes, of 64 bits at least, in whatever order they come: a list costs five times as much.
      sum(CAST(hash(release, class) AS HUGEINT)) AS classes,
      sum(CAST(hash(class, release, true) AS HUGEINT)) AS again
    FROM "staging"."members"
    GROUP BY who)
  GROUP BY classes, again)
