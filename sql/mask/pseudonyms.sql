-- title: The pseudonym of every value: its HMAC-SHA-256
-- source: RFC 2104 (Krawczyk, Bellare & Canetti 1997): the hash of the outer pad and the hash of the inner pad and the
--   text of the value; the pads are variables of the session, made of the secret key
-- reads: relation
-- returns: row_id, the columns as 64 hexadecimal digits; NULL stays NULL
-- params: relation, columns, dates (columns of day numbers)
SELECT
  row_id
{% for column in columns %}
  , sha256(getvariable('sqlmicro_outer_pad') || unhex(sha256(
      getvariable('sqlmicro_inner_pad') || encode(CAST({{ column | ident }} AS VARCHAR))))) AS {{ column | ident }}
{% endfor %}
{% for column in dates %}
  , sha256(getvariable('sqlmicro_outer_pad') || unhex(sha256(
      getvariable('sqlmicro_inner_pad')
      || encode(CAST(DATE '1970-01-01' + CAST({{ column | ident }} AS INTEGER) AS VARCHAR)))))
    AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
