-- title: Every value of the tail replaced by the same number
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation, tails
-- returns: row_id, value
-- params: relation, tails, by, column, top, replacement
SELECT
  r.row_id,
  CASE WHEN CASE WHEN {{ top | lit }}
    THEN r.{{ column | ident }} >= t.threshold
    ELSE r.{{ column | ident }} <= t.threshold
  END THEN t.{{ replacement | ident }} ELSE r.{{ column | ident }} END AS value
FROM {{ relation | ident }} AS r
LEFT JOIN {{ tails | ident }} AS t
  ON {{ by | same("r", "t") }}
