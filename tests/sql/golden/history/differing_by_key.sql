-- title: The persons of a series who are in a list of changes, or sit in no class
-- source: sqlmicro
-- reads: people (here, seat, token, the columns), tokens (token: of the keys that have changed)
-- returns: the columns of people
-- params: people, tokens, columns
SELECT "who", "token"
FROM "staging"."people"
WHERE NOT (here AND seat >= 0) OR token IN (SELECT token FROM "staging"."tokens")
