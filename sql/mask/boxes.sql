-- title: The boxes of a recoding: what is in them, and what it is released as
-- source: LeFevre, DeWitt & Ramakrishnan (2006); sqlmicro: boxes that were published are applied to other records
-- reads: nothing, the boxes stand here
-- returns: box, the strata as text, per range the ends in the type of the column, per set its values, whether values are
--   missing, and the released text
-- params: boxes (how many), strata (name, texts), ranges (low, high, missing, label, lows, highs, missings, type), dates,
--   timestamps, sets (set, missing, label, sets, missings)
WITH texts AS (
  SELECT
    unnest(range({{ boxes | lit }})) AS box
  {% for name, texts in strata %}
    , unnest(CAST({{ texts | lit }} AS VARCHAR[])) AS {{ name | ident }}
  {% endfor %}
  {% for low, high, missing, label, lows, highs, missings, type in ranges + dates + timestamps %}
    , unnest(CAST({{ lows | lit }} AS VARCHAR[])) AS {{ low | ident }}
    , unnest(CAST({{ highs | lit }} AS VARCHAR[])) AS {{ high | ident }}
    , unnest({{ missings | lit }}) AS {{ missing | ident }}
  {% endfor %}
  {% for set, missing, label, sets, missings in sets %}
    , unnest(CAST({{ sets | lit }} AS VARCHAR[][])) AS {{ set | ident }}
    , unnest({{ missings | lit }}) AS {{ missing | ident }}
  {% endfor %}
)
SELECT
  b.box
{% for name, texts in strata %}
  , b.{{ name | ident }}
{% endfor %}
{% for low, high, missing, label, lows, highs, missings, type in ranges %}
  , CAST(b.{{ low | ident }} AS {{ type | sqltype }}) AS {{ low | ident }}
  , CAST(b.{{ high | ident }} AS {{ type | sqltype }}) AS {{ high | ident }}
{% endfor %}
{% for low, high, missing, label, lows, highs, missings, type in dates %}
  , CAST(CAST(b.{{ low | ident }} AS DATE) - DATE '1970-01-01' AS {{ type | sqltype }}) AS {{ low | ident }}
  , CAST(CAST(b.{{ high | ident }} AS DATE) - DATE '1970-01-01' AS {{ type | sqltype }}) AS {{ high | ident }}
{% endfor %}
{% for low, high, missing, label, lows, highs, missings, type in timestamps %}
  , CAST(epoch_us(CAST(b.{{ low | ident }} AS TIMESTAMP)) AS {{ type | sqltype }}) AS {{ low | ident }}
  , CAST(epoch_us(CAST(b.{{ high | ident }} AS TIMESTAMP)) AS {{ type | sqltype }}) AS {{ high | ident }}
{% endfor %}
{% for low, high, missing, label, lows, highs, missings, type in ranges + dates + timestamps %}
  , b.{{ missing | ident }}
  , CASE WHEN b.{{ low | ident }} = b.{{ high | ident }} THEN b.{{ low | ident }}
      ELSE '[' || b.{{ low | ident }} || ', ' || b.{{ high | ident }} || ']' END
    || CASE WHEN b.{{ missing | ident }} THEN ' or missing' ELSE '' END AS {{ label | ident }}
{% endfor %}
{% for set, missing, label, sets, missings in sets %}
  , b.{{ set | ident }}
  , b.{{ missing | ident }}
  , CASE len(b.{{ set | ident }}) WHEN 0 THEN NULL WHEN 1 THEN b.{{ set | ident }}[1]
      ELSE '{' || array_to_string(list_sort(b.{{ set | ident }}), ', ') || '}' END
    || CASE WHEN b.{{ missing | ident }} THEN ' or missing' ELSE '' END AS {{ label | ident }}
{% endfor %}
FROM texts AS b
