-- title: The rows of a release that a night of a series has added
-- source: sqlmicro
-- reads: relation, tonight (row, row_id)
-- returns: the columns of relation
-- params: relation, tonight, first (the number of the first new row)
SELECT *
FROM {{ relation | ident }}
WHERE row_id IN (SELECT row_id FROM {{ tonight | ident }} WHERE row >= {{ first }})
