-- title: The sensitive values of the classes of one earlier release
-- source: sqlmicro
-- reads: remembered (release, column_name, class, value)
-- returns: column_name, class, value
-- params: remembered, release
SELECT column_name, class, value
FROM {{ remembered | ident }}
WHERE release = {{ release | lit }}
