-- title: How many persons of a sample have another key in a release than in an earlier one
-- source: sqlmicro: who has the same content has the same key, unless keys are given anew
-- reads: contents (of the release that is about to be published), remembered (release, who, value)
-- returns: one row: known (persons of both samples), moved (those with another key)
-- params: contents, remembered, releases (their numbers)
SELECT
  count(*) AS known,
  count(*) FILTER (WHERE c.who <> r.who) AS moved
FROM "staging"."contents" AS c
JOIN "staging"."remembered" AS r ON c.value = r.value
WHERE list_contains([1], r.release)
