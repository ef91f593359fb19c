-- The tables of a folder, for the queries beside this file. Before it: SET VARIABLE profiles = 'FOLDER';
-- Where recordings have the same stack, or know the same code, it is taken once: from the one that knows most of it.

CREATE OR REPLACE VIEW samples AS
SELECT *
FROM read_parquet(getvariable('profiles') || '/samples/*/*/*.parquet', union_by_name = true, hive_partitioning = true);

CREATE OR REPLACE VIEW recordings AS
SELECT *
FROM read_parquet(getvariable('profiles') || '/recordings/*/*/*.parquet', union_by_name = true,
    hive_partitioning = true);

CREATE OR REPLACE VIEW stacks AS
SELECT stack_hash, any_value(frame_hashes) AS frame_hashes
FROM read_parquet(getvariable('profiles') || '/stacks/*/*/*.parquet', union_by_name = true)
GROUP BY stack_hash;

CREATE OR REPLACE VIEW frames AS
SELECT * EXCLUDE (filename, n_rows)
FROM (
    SELECT *, count(*) OVER (PARTITION BY frame_hash, filename) AS n_rows
    FROM read_parquet(getvariable('profiles') || '/frames/*/*/*.parquet', union_by_name = true,
        filename = true, hive_partitioning = false)
)
QUALIFY row_number() OVER (PARTITION BY frame_hash, inline_depth ORDER BY n_rows DESC, filename) = 1;
