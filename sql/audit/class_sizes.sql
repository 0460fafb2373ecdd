-- title: How many equivalence classes of each size there are
-- source: Samarati & Sweeney (1998): a table is k-anonymous if every combination of quasi-identifiers occurs k times.
--   Classes are formed on canonical bytes: what is told apart in the output is told apart here (collations,
--   -0.0 and 0.0, the payloads of NaN, 1 month and 30 days); NULL is a value of its own
-- reads: relation
-- returns: size, classes
-- params: relation, plain, collated, floats, nested (floating-point numbers within), others
SELECT
  size,
  count(*) AS classes
FROM (
  SELECT
  {% for column in plain %}
    {{ column.name | ident }} AS plain_{{ loop.index }},
  {% endfor %}
  {% for column in collated %}
    encode({{ column.name | ident }}) AS collated_{{ loop.index }},
  {% endfor %}
  {% for column in floats %}
    CAST({{ column.name | ident }} AS BIT) AS float_{{ loop.index }},
  {% endfor %}
  {% for column in nested %}
    encode(CAST(CAST({{ column.name | ident }} AS {{ column.bits | sqltype }}) AS VARCHAR)) AS nested_{{ loop.index }},
  {% endfor %}
  {% for column in others %}
    encode(CAST({{ column.name | ident }} AS VARCHAR)) AS other_{{ loop.index }},
  {% endfor %}
    count(*) AS size
  FROM {{ relation | ident }}
  GROUP BY ALL)
GROUP BY size
ORDER BY size
