-- title: The records to anonymize, numbered once, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0 and NaN loses its payload, which nobody sees and could tell records apart; an infinite date stays
--   infinite, to be refused
-- reads: relation (the user's table)
-- returns: row_id from 0, in the order of the columns of every list in `row_keys` (one, or none: of the table); the columns
-- params: relation, row_keys, plain, kept_floats, floats, collated, as_text, dates, timestamps
SELECT
  row_number() OVER ({% for names in row_keys %}ORDER BY {% for column in names %}{{ column.name | ident }}{% if not loop.last %}, {% endif %}{% endfor %}{% endfor %}) - 1 AS row_id
{% for column in plain %}
  , {{ column.name | ident }} AS {{ column | ident }}
{% endfor %}
{% for column in kept_floats %}
  , CASE WHEN isnan({{ column.name | ident }}) THEN CAST('NaN' AS FLOAT) ELSE {{ column.name | ident }} END AS {{ column | ident }}
{% endfor %}
{% for column in floats %}
  , CASE WHEN {{ column.name | ident }} = 0 THEN 0 WHEN isnan({{ column.name | ident }}) THEN CAST('NaN' AS FLOAT)
      ELSE {{ column.name | ident }} END AS {{ column | ident }}
{% endfor %}
{% for column in collated %}
  , decode(encode({{ column.name | ident }})) AS {{ column | ident }}
{% endfor %}
{% for column in as_text %}
  , CAST({{ column.name | ident }} AS VARCHAR) AS {{ column | ident }}
{% endfor %}
{% for column in dates %}
  , CASE WHEN NOT isfinite({{ column.name | ident }}) THEN CAST('infinity' AS DOUBLE)
      ELSE {{ column.name | ident }} - DATE '1970-01-01' END AS {{ column | ident }}
{% endfor %}
{% for column in timestamps %}
  , CASE WHEN NOT isfinite({{ column.name | ident }}) THEN CAST('infinity' AS DOUBLE)
      ELSE epoch_us({{ column.name | ident }}) END AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
