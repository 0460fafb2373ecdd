-- title: A sample of the distinct values of every column, as text
-- source: sqlmicro
-- reads: relation
-- returns: place (of the column, from 1), path (empty), value (without blanks around it); about as many of each column as were
--   asked for, chosen by their hash: the same ones whatever the order of the table; empty text is left out
-- params: relation, plain (columns with their place, and every how many values one is taken), floats (the same; whole
--   numbers are written without a decimal point), nested (the same; written as JSON), most (values of a column), blanks
{% for column, place, every in plain %}
(SELECT {{ place }} AS place, '' AS path, value
FROM (
  SELECT DISTINCT trim(CAST({{ column.name | ident }} AS VARCHAR), {{ blanks | lit }}) AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every }} = 0)
WHERE value <> ''
ORDER BY hash(value), value
LIMIT {{ most }})
UNION ALL
{% endfor %}
{% for column, place, every in floats %}
(SELECT {{ place }} AS place, '' AS path, value
FROM (
  SELECT DISTINCT
    CASE
      WHEN abs({{ column.name | ident }}) < 1e18 AND floor({{ column.name | ident }}) = {{ column.name | ident }}
        THEN CAST(CAST({{ column.name | ident }} AS BIGINT) AS VARCHAR)
      ELSE CAST({{ column.name | ident }} AS VARCHAR)
    END AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every }} = 0)
WHERE value <> ''
ORDER BY hash(value), value
LIMIT {{ most }})
UNION ALL
{% endfor %}
{% for column, place, every in nested %}
(SELECT {{ place }} AS place, '' AS path, value
FROM (
  SELECT DISTINCT CAST(to_json({{ column.name | ident }}) AS VARCHAR) AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every }} = 0)
WHERE value <> ''
ORDER BY hash(value), value
LIMIT {{ most }})
UNION ALL
{% endfor %}
SELECT 0, '', '' WHERE false
