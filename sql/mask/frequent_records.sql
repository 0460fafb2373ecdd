-- title: The records whose combination occurs at least k times
-- source: Samarati (2001): the others are suppressed
-- reads: relation
-- returns: row_id
-- params: relation, columns, k
SELECT row_id
FROM {{ relation | ident }}
QUALIFY count(*) OVER (PARTITION BY {{ columns | idents }}) >= {{ k }}
