-- title: Who sits in which class tonight
-- source: sqlmicro
-- reads: untouched (who, seat: of the persons whose rows were not read), tonight (who, label)
-- returns: who, label
-- params: untouched, tonight
SELECT who, seat AS label FROM {{ untouched | ident }}
UNION ALL
SELECT who, label FROM {{ tonight | ident }}
