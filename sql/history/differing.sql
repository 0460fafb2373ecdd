-- title: What differs between the rows of a source and the persons of a series who sit in a class
-- source: sqlmicro; one join tells the rows that nobody who sits is known by, and the persons without a row, or a seat
-- reads: people (here, seat, token, the columns), tokens (number, token: of the rows of the source)
-- returns: the columns of people, NULL for a row; number, NULL for a person
-- params: people, tokens, columns
SELECT {{ columns | listed("p.{}") }}, t.number
FROM (SELECT *, CASE WHEN here AND seat >= 0 THEN token ELSE -1 END AS known FROM {{ people | ident }}) AS p
FULL JOIN {{ tokens | ident }} AS t ON p.known = t.token
WHERE p.who IS NULL OR t.number IS NULL
