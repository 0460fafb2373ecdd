-- title: The probability that a category becomes another, as a matrix says
-- source: Kooiman, Willenborg & Gouweleeuw (1997), PRAM
-- reads: nothing
-- returns: source, target (labels from 1), probability
-- params: matrix
WITH given AS (
  SELECT
    unnest(range(1, len({{ matrix | lit }}) + 1)) AS source,
    unnest({{ matrix | lit }}) AS probabilities
)
SELECT
  source,
  unnest(range(1, len(probabilities) + 1)) AS target,
  CAST(unnest(probabilities) AS DOUBLE) AS probability
FROM given
