{#
  A model whose result is anonymized, and audited, before it replaces the table. The SELECT of the model is a view for as
  long: no original is written into the database. What fails leaves the table as it was, and the run of dbt fails.
#}
{% materialization sqlmicro, adapter="duckdb", supported_languages=["sql"] %}
  {%- set options = (config.get("meta") or {}).get("sqlmicro") -%}
  {%- if options is not mapping or not options.get("method") -%}
    {{ exceptions.raise_compiler_error("a model that sqlmicro makes has meta: {sqlmicro: {method: mdav, columns: [...], k: 5, ...}}") }}
  {%- endif -%}
  {%- set target = this.incorporate(type="table") -%}
  {%- set original = this.incorporate(path={"identifier": this.identifier ~ "__original"}, type="view") -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {% call statement("original") -%}
    CREATE OR REPLACE VIEW {{ original }} AS
    {{ compiled_code }}
  {%- endcall %}
  {# sqlmicro has a connection and a transaction of its own: it sees what is committed. #}
  {{ adapter.commit() }}

  {% call statement("main", language="python", auto_begin=False) -%}
import json

import sqlmicro


class dbtObj:
    def __init__(self, load):
        pass


def model(dbt, con):
    options = json.loads({{ tojson(tojson(options)) }})
    original = {{ tojson(original | string) }}
    try:
        with sqlmicro.open(con.cursor()) as session:
            method = getattr(session, options.pop("method").replace("-", "_"))
            release = method(original, **options)
            print(json.dumps(release.publish(into={{ tojson(target | string) }}, overwrite=True)["audits"], default=str))
    finally:
        con.execute("DROP VIEW " + original)


def materialize(df, con):
    pass
  {%- endcall %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do persist_docs(target, model) %}
  {% call statement("end") -%} SELECT 1 {%- endcall %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({"relations": [target]}) }}
{% endmaterialization %}
