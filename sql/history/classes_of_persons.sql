-- title: The classes of every person of a release, and what its totals have of her, by a keyed hash of who it is
-- source: sqlmicro: as history/classes_of_records.sql, where persons have many records; those without a person are one
-- reads: classed, original (as it was loaded)
-- returns: who, class, value (a sum of keyed hashes of what was averaged of her records there, modulo 2^60); a person is in
--   as many classes as her records are
-- params: stream (variable with the key), classed, original, person, averaged (columns of original)
SELECT
  CAST(concat('0x', substr({{ stream | draw("person") }}, 1, 15)) AS BIGINT) AS who,
  label AS class,
  CAST(sum({{ stream | drawn_of("person", averaged) }}) % 1152921504606846976 AS BIGINT) AS value
FROM (
  SELECT hash({{ person | listed("o.{}") }}) AS person, c.class AS label{% for column in averaged %}, o.{{ column | ident }}{% endfor %}

  FROM {{ classed | ident }} AS c
  JOIN {{ original | ident }} AS o ON c.row_id = o.row_id)
GROUP BY person, label
