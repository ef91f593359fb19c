"""Asks an engine: `ask.py ENGINE [--times] < STATEMENTS`, from the folder that `profiles` is in. STATEMENTS is a list
in JSON; the rows of each that is no definition are printed, as a list on a line, or the seconds that it took."""

import json
import sys
import time


def duckdb(_is_little):
    import duckdb

    connection = duckdb.connect()
    return lambda statement: connection.execute(statement).fetchall()


def spark(is_little):
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
    }
    if is_little:
        # What takes time are stages, and the compilation of code.
        settings["spark.sql.adaptive.enabled"] = "false"
        settings["spark.sql.codegen.wholeStage"] = "false"
        settings["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    return lambda statement: [list(row) for row in session.sql(statement).collect()]


def clickhouse(_is_little):
    from chdb.session import Session

    session = Session()

    def ask(statement):
        answer = str(session.query(statement, "JSONCompactEachRow"))
        return [json.loads(line) for line in answer.splitlines()]

    return ask


ENGINES = {"duckdb": duckdb, "spark": spark, "clickhouse": clickhouse}


def is_definition(statement):
    lines = (line for line in statement.splitlines() if line and not line.startswith("--"))
    return next(lines).startswith(("CREATE", "SET"))


def main():
    are_timed = "--times" in sys.argv
    ask = ENGINES[sys.argv[1]](not are_timed)
    for statement in json.load(sys.stdin):
        began = time.monotonic()
        rows = ask(statement)
        if not is_definition(statement):
            print(time.monotonic() - began if are_timed else json.dumps(rows, default=int))


if __name__ == "__main__":
    main()
