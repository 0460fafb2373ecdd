-- title: How often a further column is guessed right, of persons who are alone in a known set of columns that is shown
-- source: sqlmicro: whoever knows some values of somebody who is unique in them looks them up in the release, and takes the
--   value of another column that stands there, if exactly one does
-- reads: released, original (cells; where whose records they are counts, a cell for every person)
-- returns: a row per set: set_id (as grouping() gives it: a bit per used column, set where it is not in the set), and for the
--   i-th column guesses_i and right_i (those that are the value of the person; who has several is not guessed)
-- params: released, original, columns, used (those of the sets), sets, person (columns that say whose record it is), whose
--   (none, or one list: these)
WITH both_files AS (
  SELECT {{ columns | idents }}, {{ person | listed("{}, ") }}records AS before, 0 AS after
  FROM {{ original | ident }}
  UNION ALL
  SELECT {{ columns | idents }}, {{ person | listed("NULL AS {}, ") }}0 AS before, records AS after
  FROM {{ released | ident }}
),
combinations AS (
  SELECT
    grouping({{ used | idents }}) AS set_id,
    count(*) FILTER (WHERE after > 0) AS shown,
    count(*) FILTER (WHERE before > 0) AS there
  {% for column in columns %}
    , min({{ column | ident }}) FILTER (WHERE after > 0) AS shown_{{ loop.index }}
    , max({{ column | ident }}) FILTER (WHERE after > 0) AS shown_too_{{ loop.index }}
    , count({{ column | ident }}) FILTER (WHERE after > 0) AS shown_values_{{ loop.index }}
    , min({{ column | ident }}) FILTER (WHERE before > 0) AS own_{{ loop.index }}
    , max({{ column | ident }}) FILTER (WHERE before > 0) AS own_too_{{ loop.index }}
    , count({{ column | ident }}) FILTER (WHERE before > 0) AS own_values_{{ loop.index }}
  {% endfor %}
  FROM both_files
  GROUP BY GROUPING SETS ({{ sets | listed("\n    ({})") }}
  )
  HAVING
    sum(after) > 0
    AND coalesce(
      {{ whose | listed("count(DISTINCT row({})) FILTER (WHERE before > 0), ") }}sum(before)
    ) = 1
),
guesses AS (
  SELECT
    set_id
  {% for column in columns %}
    , shown_{{ loop.index }} IS NOT DISTINCT FROM shown_too_{{ loop.index }}
      AND own_{{ loop.index }} IS NOT DISTINCT FROM own_too_{{ loop.index }}
      AND shown_values_{{ loop.index }} IN (0, shown)
      AND own_values_{{ loop.index }} IN (0, there) AS guessed_{{ loop.index }}
    , shown_{{ loop.index }} IS NOT DISTINCT FROM own_{{ loop.index }} AS is_right_{{ loop.index }}
  {% endfor %}
  FROM combinations
)
SELECT
  set_id
{% for column in columns %}
  , count(*) FILTER (WHERE guessed_{{ loop.index }}) AS guesses_{{ loop.index }}
  , count(*) FILTER (WHERE guessed_{{ loop.index }} AND is_right_{{ loop.index }}) AS right_{{ loop.index }}
{% endfor %}
FROM guesses
GROUP BY set_id
ORDER BY set_id
