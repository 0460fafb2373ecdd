-- title: The records with the tail of a column replaced, as a recoding says, and whether they are in it
-- source: Hundepool et al. (2012), top and bottom coding; sqlmicro: a record whose stratum or tail is not known is left out
-- reads: relation, tails (the strata, start, beyond, whole, becomes)
-- returns: row_id, value, in_tail, and how many of the stratum are in it
-- params: relation, tails, strata (column, name), column, top, result
WITH found AS (
  SELECT
    r.row_id,
    r.{{ column | ident }} AS value,
    {{ strata | listed("t.{2}, ") }}
    t.becomes,
    r.{{ column | ident }} IS NOT NULL AND (t.whole OR CASE WHEN {{ top | lit }}
      THEN coalesce(r.{{ column | ident }} >= t.start, r.{{ column | ident }} > t.beyond)
      ELSE coalesce(r.{{ column | ident }} <= t.start, r.{{ column | ident }} < t.beyond)
    END) AS in_tail
  FROM {{ relation | ident }} AS r
  JOIN {{ tails | ident }} AS t
    ON true
  {% for column, name in strata %}
      AND CAST(r.{{ column | ident }} AS VARCHAR) IS NOT DISTINCT FROM t.{{ name | ident }}
  {% endfor %}
)
SELECT
  f.row_id,
  CASE WHEN f.in_tail THEN f.becomes ELSE CAST(f.value AS {{ result | sqltype }}) END AS value,
  f.in_tail,
  count(*) FILTER (WHERE f.in_tail) OVER (PARTITION BY {{ strata | listed("f.{2}, ") }} true) AS n
FROM found AS f
WHERE NOT f.in_tail OR f.becomes IS NOT NULL
