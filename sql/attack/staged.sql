-- title: The columns of a release under the names they have in staging
-- source: sqlmicro
-- reads: relation (the user's table)
-- returns: the columns
-- params: relation, columns
SELECT{{ columns | listed("\n  {name} AS {}") }}
FROM {{ relation | ident }}
