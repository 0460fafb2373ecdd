-- title: How often a further column is guessed right, of persons who are alone in a known set of columns that is shown
-- source: sqlmicro: whoever knows some values of somebody who is unique in them looks them up in the release, and takes the
--   value of another column that stands there, if exactly one does
-- reads: released, original (cells; where whose records they are counts, a cell for every person)
-- returns: a row per set: set_id (as grouping() gives it: a bit per used column, set where it is not in the set), and for the
--   i-th column guesses_i and right_i (those that are the value of the person; who has several is not guessed)
-- params: released, original, columns, used (those of the sets), sets, person (columns that say whose record it is), whose
--   (none, or one list: these)
WITH both_files AS (
  SELECT "a", "b", records AS before, 0 AS after
  FROM "staging"."original"
  UNION ALL
  SELECT "a", "b", 0 AS before, records AS after
  FROM "staging"."released"
),
combinations AS (
  SELECT
    grouping("a", "b") AS set_id,
    count(*) FILTER (WHERE after > 0) AS shown,
    count(*) FILTER (WHERE before > 0) AS there
    , min("a") FILTER (WHERE after > 0) AS shown_1
    , max("a") FILTER (WHERE after > 0) AS shown_too_1
    , count("a") FILTER (WHERE after > 0) AS shown_values_1
    , min("a") FILTER (WHERE before > 0) AS own_1
    , max("a") FILTER (WHERE before > 0) AS own_too_1
    , count("a") FILTER (WHERE before > 0) AS own_values_1
    , min("b") FILTER (WHERE after > 0) AS shown_2
    , max("b") FILTER (WHERE after > 0) AS shown_too_2
    , count("b") FILTER (WHERE after > 0) AS shown_values_2
    , min("b") FILTER (WHERE before > 0) AS own_2
    , max("b") FILTER (WHERE before > 0) AS own_too_2
    , count("b") FILTER (WHERE before > 0) AS own_values_2
  FROM both_files
  GROUP BY GROUPING SETS (
    ("a"),
    ("b")
  )
  HAVING
    sum(after) > 0
    AND coalesce(
      sum(before)
    ) = 1
),
guesses AS (
  SELECT
    set_id
    , shown_1 IS NOT DISTINCT FROM shown_too_1
      AND own_1 IS NOT DISTINCT FROM own_too_1
      AND shown_values_1 IN (0, shown)
      AND own_values_1 IN (0, there) AS guessed_1
    , shown_1 IS NOT DISTINCT FROM own_1 AS is_right_1
    , shown_2 IS NOT DISTINCT FROM shown_too_2
      AND own_2 IS NOT DISTINCT FROM own_too_2
      AND shown_values_2 IN (0, shown)
      AND own_values_2 IN (0, there) AS guessed_2
    , shown_2 IS NOT DISTINCT FROM own_2 AS is_right_2
  FROM combinations
)
SELECT
  set_id
  , count(*) FILTER (WHERE guessed_1) AS guesses_1
  , count(*) FILTER (WHERE guessed_1 AND is_right_1) AS right_1
  , count(*) FILTER (WHERE guessed_2) AS guesses_2
  , count(*) FILTER (WHERE guessed_2 AND is_right_2) AS right_2
FROM guesses
GROUP BY set_id
ORDER BY set_id
