-- title: The records that come into the release of a series tonight
-- source: sqlmicro
-- reads: relation, cohort (row_id)
-- returns: the columns of relation
-- params: relation, cohort
SELECT *
FROM {{ relation | ident }}
SEMI JOIN {{ cohort | ident }} USING (row_id)
