-- title: The records in the types that are published
-- source: sqlmicro: numbers of days and microseconds are dates and timestamps again, text is what it was
-- reads: released
-- returns: row_id, the columns
-- params: released, plain, dates, timestamps, timestamps_with_zone, casts
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
