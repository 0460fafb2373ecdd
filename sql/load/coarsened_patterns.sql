-- title: The records without the values that make their pattern of missing values a rare one
-- source: Hundepool et al. (2012), local suppression; which records of a pattern lose values is drawn by a keyed hash
-- reads: relation (with record and pattern), moves (pattern, stratum, seats from first_seat to last_seat, coarsened)
-- returns: row_id, record, the columns, the others, pattern: what a record lacks now
-- params: relation, moves, columns (in the order of the pattern), others, by, stream (variable with the key)
WITH numbered AS (
  SELECT
    *,
    dense_rank() OVER (ORDER BY {{ by | listed("{}, ") }}true) - 1 AS stratum
  FROM {{ relation | ident }}
),
seated AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY pattern, stratum
      ORDER BY {{ stream | draw("record", []) }}, row_id) AS seat
  FROM numbered
),
decided AS (
  SELECT
    s.*,
    coalesce(m.coarsened, s.pattern) AS bits
  FROM seated AS s
  LEFT JOIN {{ moves | ident }} AS m
    ON s.pattern = m.pattern AND s.stratum = m.stratum AND s.seat BETWEEN m.first_seat AND m.last_seat
)
SELECT
  row_id
  , record
{% for column in columns %}
  , CASE WHEN substr(bits, {{ loop.index }}, 1) = '0' THEN {{ column | ident }} END AS {{ column | ident }}
{% endfor %}
{% for column in others %}
  , {{ column | ident }}
{% endfor %}
  , bits AS pattern
FROM decided
