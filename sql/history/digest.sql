-- title: What a table remembers of a release, as two numbers: whether it is still what was published
-- source: sqlmicro, as publish/content.sql
-- reads: remembered (the columns), of one release or with the column release
-- returns: how many rows there are, and the sum of their hashes
-- params: remembered, columns, release (its number; NULL: all rows)
SELECT count(*) AS kept, coalesce(sum(CAST(hash({{ columns | idents }}) AS HUGEINT)), 0) AS hashes
FROM {{ remembered | ident }}
{% if release is not none %}
WHERE release = {{ release | lit }}
{% endif %}
