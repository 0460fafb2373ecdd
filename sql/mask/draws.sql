-- title: The records with the random numbers that a method draws for them
-- source: sqlmicro: a number is 60 bits of a keyed hash of the record and the values that it is drawn for; the same value
--   of the same person draws the same number again, whatever other records there are. See sqlmicro/system/secrets.py
-- reads: relation (with record)
-- returns: the columns of relation; draw_1, draw_2, …, from 0 to 2^60
-- params: relation, streams (variable with the key, columns), draws (name, hash, first of its 15 digits)
WITH hashed AS (
  SELECT
    *
  {% for stream, columns in streams %}
    , {{ stream | draw("record", columns) }} AS hash_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}
)
SELECT
  *
{% for draw, hash, first in draws %}
  , CAST(concat('0x', substr({{ hash | ident }}, {{ first }}, 15)) AS BIGINT) AS {{ draw | ident }}
{% endfor %}
FROM hashed
