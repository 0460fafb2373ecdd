-- title: How often a column is guessed right from all others, of persons who are alone in these
-- source: sqlmicro: whoever knows all other values of somebody who is unique in them looks them up in the release, and takes
--   the value that stands there, if exactly one does
-- reads: released, original (cells)
-- returns: one row: guesses, right_guesses, commonest (the share of the records with the commonest value)
-- params: released, original, column, others
WITH alone AS (
  SELECT {{ others | idents }}, min({{ column | ident }}) AS {{ column | ident }}
  FROM {{ original | ident }}
  GROUP BY {{ others | idents }}
  HAVING sum(records) = 1
),
shown AS (
  SELECT {{ others | idents }}, min({{ column | ident }}) AS {{ column | ident }}
  FROM {{ released | ident }}
  GROUP BY {{ others | idents }}
  HAVING count(*) = 1
)
SELECT
  count(*) AS guesses,
  count(*) FILTER (WHERE a.{{ column | ident }} IS NOT DISTINCT FROM s.{{ column | ident }}) AS right_guesses,
  (
    SELECT CAST(max(n) AS DOUBLE) / sum(n)
    FROM (SELECT sum(records) AS n FROM {{ original | ident }} GROUP BY {{ column | ident }}) AS by_value
  ) AS commonest
FROM alone AS a
JOIN shown AS s
  ON {{ others | same("a", "s") }}
