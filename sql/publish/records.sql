-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: the order of the numbers is that of load/shuffled.sql, which a key decides; they
--   themselves are left out. Inside an expression the name is not that of a column of the release
-- reads: released
-- returns: the columns under their own names; numbers of days and microseconds are dates and timestamps again
-- params: released, plain, dates, timestamps, timestamps_with_zone, casts, ordered
WITH own_types AS (
  SELECT
    row_id
  {% for column in plain %}
    , {{ column | ident }}
  {% endfor %}
  {% for column in dates %}
    , DATE '1970-01-01' + CAST(round_even({{ column | ident }}, 0) AS INTEGER) AS {{ column | ident }}
  {% endfor %}
  {% for column in timestamps %}
    , CAST(make_timestamp(CAST(round_even({{ column | ident }}, 0) AS BIGINT)) AS {{ column | sqltype }}) AS {{ column | ident }}
  {% endfor %}
  {% for column in timestamps_with_zone %}
    , make_timestamptz(CAST(round_even({{ column | ident }}, 0) AS BIGINT)) AS {{ column | ident }}
  {% endfor %}
  {% for column in casts %}
    , CAST({{ column | ident }} AS {{ column | sqltype }}) AS {{ column | ident }}
  {% endfor %}
  FROM {{ released | ident }}
)
SELECT
{% for column in ordered %}
  {{ column | ident }} AS {{ column.name | ident }}{% if not loop.last %},{% endif +%}
{% endfor %}
FROM own_types
ORDER BY row_id + 0
