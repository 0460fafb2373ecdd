-- title: The released records with every number as the type of its column can hold it
-- source: sqlmicro: half to even, which has no bias. Half a cent is hardly ever a DOUBLE, so what lies a millionth of the
--   last digit from a half counts as one. At the end of a type's range a DOUBLE may lie just outside it: then the next
--   one inside is taken
-- reads: released
-- returns: label, the columns, n; the rounded columns in their own type, days and microseconds as whole DOUBLEs
-- params: released, plain, times, whole, decimals (column, digits after the point)
SELECT
  label
{% for column in plain %}
  , {{ column | ident }}
{% endfor %}
{% for column in times %}
  , round_even({{ column | ident }}, 0) AS {{ column | ident }}
{% endfor %}
{% for column in whole %}
  , coalesce(
      TRY_CAST(round_even({{ column | ident }}, 0) AS {{ column | sqltype }}),
      CAST({{ column | ident }} * (1 - 2.220446049250313e-16) AS {{ column | sqltype }})) AS {{ column | ident }}
{% endfor %}
{% for column, digits in decimals %}
  , coalesce(
      TRY_CAST(round_even(round({{ column | ident }} * 1e{{ digits | lit }}, 6), 0) / 1e{{ digits | lit }} AS {{ column | sqltype }}),
      CAST({{ column | ident }} * (1 - 2.220446049250313e-16) AS {{ column | sqltype }})) AS {{ column | ident }}
{% endfor %}
  , n
FROM {{ released | ident }}
