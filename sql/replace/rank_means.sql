-- title: Every value replaced by the mean of its group, as the first record of the group finds it
-- source: Defays & Nanopoulos (1993). Every record takes the mean of its own value and the next k-1 in the sorted order,
--   and then the mean of the record its group begins with. All members have the same mean to the last bit, never beyond
--   the smallest and largest of them; up to k of about 30 this costs less than GROUP BY and JOIN
-- reads: sorted, strata (with middle_mean)
-- returns: row_id, value
-- params: sorted, strata, by, k
WITH means AS (
  SELECT
    {{ by | listed("{}, ") }}
    row_id,
    rowid AS position,
    greatest(value, least((
      value
  {% for distance in range(1, k) %}
      + lead(value, {{ distance }}) OVER ()
  {% endfor %}
    ) / {{ k }}, lead(value, {{ k - 1 }}) OVER ())) AS mean_0
  FROM {{ sorted | ident }}
),
neighbours AS (
  SELECT
    *
  {% for distance in range(1, k) %}
    , lag(mean_0, {{ distance }}) OVER () AS mean_{{ distance }}
  {% endfor %}
  FROM means
),
placed AS (
  SELECT
    n.*,
    t.middle_mean,
    CASE
      WHEN n.position < t.middle_first THEN (n.position - t.first_position) % {{ k }}
      WHEN n.position > t.middle_last THEN (n.position - t.middle_last - 1) % {{ k }}
    END AS place
  FROM neighbours AS n
  JOIN {{ strata | ident }} AS t
    ON {{ by | same("n", "t") }}
)
SELECT
  row_id,
  CASE place
  {% for distance in range(k) %}
    WHEN {{ distance }} THEN mean_{{ distance }}
  {% endfor %}
    ELSE middle_mean
  END AS value
FROM placed
