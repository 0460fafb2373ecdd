-- title: What tells every row of a source, and its values, from others
-- source: sqlmicro; the keyed hash of content is what a series knows a row by that it need not read again
-- reads: relation (the user's table)
-- returns: record (as in load/typed.sql), content (a hash of the row key and the values)
-- params: relation, row_key, plain, floats, nested (floating-point numbers within), texts
SELECT
  hash({{ row_key | listed("CAST({name} AS VARCHAR)") }}) AS record,
  hash(
  {% for column in row_key %}
    CAST({{ column.name | ident }} AS VARCHAR),
  {% endfor %}
  {% for column in plain %}
    {{ column.name | ident }},
  {% endfor %}
  {% for column in floats %}
    {{ column.name | ident }}, signbit({{ column.name | ident }}),
  {% endfor %}
  {% for column in nested %}
    CAST(CAST({{ column.name | ident }} AS {{ column.bits | sqltype }}) AS VARCHAR),
  {% endfor %}
  {% for column in texts %}
    CAST({{ column.name | ident }} AS VARCHAR),
  {% endfor %}
    true) AS content
FROM {{ relation | ident }}
