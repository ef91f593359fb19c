-- The tables of the folder `profiles` as views, for the queries in the folder above. To read another folder, or fewer
-- days and machines, change the paths: 'profiles/samples/date=2026-11-24/machine=*/*.parquet'.
--
-- `all_stacks` and `all_frames` have the rows of all recordings; `stacks` and `frames` have each stack and each code
-- location once: from the recording that knows most of it. Positions and inline depths are from 0, innermost first.
-- Columns go by their numbers, so files may lack those that were added after them, and files that a query does not need
-- are not opened.

CREATE OR REPLACE VIEW recordings AS
SELECT *
FROM read_parquet('profiles/recordings/date=*/machine=*/*.parquet', hive_partitioning = true,
    hive_types = {date: VARCHAR, machine: VARCHAR}, schema = MAP {
        1: {name: 'recording', type: 'VARCHAR', default_value: NULL},
        2: {name: 'machine', type: 'VARCHAR', default_value: NULL},
        3: {name: 'boot', type: 'VARCHAR', default_value: NULL},
        4: {name: 'event', type: 'VARCHAR', default_value: NULL},
        5: {name: 'unit', type: 'VARCHAR', default_value: NULL},
        6: {name: 'samples', type: 'BIGINT', default_value: NULL},
        7: {name: 'weight', type: 'BIGINT', default_value: NULL},
        8: {name: 'lost', type: 'BIGINT', default_value: NULL},
        9: {name: 'lost_at_least', type: 'BOOLEAN', default_value: NULL},
        10: {name: 'rate_hz', type: 'BIGINT', default_value: NULL},
        11: {name: 'every', type: 'BIGINT', default_value: NULL},
        12: {name: 'start_ns', type: 'BIGINT', default_value: NULL},
        13: {name: 'end_ns', type: 'BIGINT', default_value: NULL},
        14: {name: 'wall_offset_ns', type: 'BIGINT', default_value: NULL},
        15: {name: 'stacks_unwound', type: 'BIGINT', default_value: NULL},
        16: {name: 'stacks_complete', type: 'BIGINT', default_value: NULL},
        17: {name: 'stacks_truncated', type: 'BIGINT', default_value: NULL},
        18: {name: 'throttles', type: 'BIGINT', default_value: NULL},
        19: {name: 'throttled_ns', type: 'BIGINT', default_value: NULL},
        20: {name: 'n_cpus', type: 'INTEGER', default_value: NULL},
        21: {name: 'quality', type: 'VARCHAR', default_value: NULL},
        22: {name: 'source', type: 'VARCHAR', default_value: NULL},
        23: {name: 'clock', type: 'VARCHAR', default_value: NULL},
        24: {name: 'kernel', type: 'VARCHAR', default_value: NULL},
        25: {name: 'arch', type: 'VARCHAR', default_value: NULL},
        26: {name: 'cpu_model', type: 'VARCHAR', default_value: NULL},
        27: {name: 'command', type: 'VARCHAR', default_value: NULL},
        28: {name: 'recorder', type: 'VARCHAR', default_value: NULL}
    });

-- An export that did not end leaves samples of no recording.
CREATE OR REPLACE VIEW samples AS
SELECT *
FROM read_parquet('profiles/samples/date=*/machine=*/*.parquet', hive_partitioning = true,
    hive_types = {date: VARCHAR, machine: VARCHAR}, schema = MAP {
        1: {name: 'time_ns', type: 'BIGINT', default_value: NULL},
        2: {name: 'machine', type: 'VARCHAR', default_value: NULL},
        3: {name: 'boot', type: 'VARCHAR', default_value: NULL},
        4: {name: 'recording', type: 'VARCHAR', default_value: NULL},
        5: {name: 'pid', type: 'INTEGER', default_value: NULL},
        6: {name: 'tid', type: 'INTEGER', default_value: NULL},
        7: {name: 'comm', type: 'VARCHAR', default_value: NULL},
        8: {name: 'cpu', type: 'INTEGER', default_value: NULL},
        9: {name: 'event', type: 'VARCHAR', default_value: NULL},
        10: {name: 'weight', type: 'BIGINT', default_value: NULL},
        11: {name: 'period', type: 'BIGINT', default_value: NULL},
        12: {name: 'state', type: 'VARCHAR', default_value: NULL},
        13: {name: 'cause', type: 'VARCHAR', default_value: NULL},
        14: {name: 'span', type: 'VARCHAR', default_value: NULL},
        15: {name: 'stack_hash', type: 'BIGINT', default_value: NULL},
        16: {name: 'span_start_ns', type: 'BIGINT', default_value: NULL},
        17: {name: 'span_ns', type: 'BIGINT', default_value: NULL}
    })
WHERE recording IN (SELECT recording FROM recordings);

CREATE OR REPLACE VIEW all_stacks AS
SELECT *
FROM read_parquet('profiles/stacks/date=*/machine=*/*.parquet', hive_partitioning = true,
    hive_types = {date: VARCHAR, machine: VARCHAR}, schema = MAP {
        1: {name: 'recording', type: 'VARCHAR', default_value: NULL},
        2: {name: 'stack_hash', type: 'BIGINT', default_value: NULL},
        3: {name: 'frame_hashes', type: 'BIGINT[]', default_value: NULL}
    });

CREATE OR REPLACE VIEW all_frames AS
SELECT *
FROM read_parquet('profiles/frames/date=*/machine=*/*.parquet', hive_partitioning = true,
    hive_types = {date: VARCHAR, machine: VARCHAR}, schema = MAP {
        1: {name: 'recording', type: 'VARCHAR', default_value: NULL},
        2: {name: 'frame_hash', type: 'BIGINT', default_value: NULL},
        3: {name: 'inline_depth', type: 'INTEGER', default_value: NULL},
        4: {name: 'build_id', type: 'VARCHAR', default_value: NULL},
        5: {name: 'offset', type: 'BIGINT', default_value: NULL},
        6: {name: 'function', type: 'VARCHAR', default_value: NULL},
        7: {name: 'is_inlined', type: 'BOOLEAN', default_value: NULL},
        8: {name: 'module', type: 'VARCHAR', default_value: NULL},
        9: {name: 'path', type: 'VARCHAR', default_value: NULL},
        10: {name: 'level', type: 'VARCHAR', default_value: NULL},
        11: {name: 'file', type: 'VARCHAR', default_value: NULL},
        12: {name: 'line', type: 'INTEGER', default_value: NULL},
        13: {name: 'known', type: 'BIGINT', default_value: NULL}
    });

CREATE OR REPLACE VIEW stacks AS
SELECT stack_hash, any_value(s.frame_hashes[1]) AS innermost, any_value(s.frame_hashes) AS frame_hashes
FROM all_stacks s
GROUP BY stack_hash;

CREATE OR REPLACE VIEW stack_frames AS
SELECT stack_hash, unnest(range(len(frame_hashes))) AS position, unnest(frame_hashes) AS frame_hash
FROM stacks;

-- Each row from the recording that knows its location best. With one sort key, engines need neither sort nor join.
CREATE OR REPLACE VIEW frames AS
SELECT frame_hash, inline_depth, build_id, "offset", function, is_inlined, module, path, level, file, line
FROM (
    SELECT *, row_number() OVER (PARTITION BY frame_hash, inline_depth ORDER BY known DESC) AS place
    FROM all_frames
) ranked
WHERE place = 1;

CREATE OR REPLACE VIEW innermost_functions AS
SELECT k.stack_hash AS stack_hash, f.function AS function, f.level AS level, f.is_inlined AS is_inlined,
    f.module AS module
FROM stacks k
JOIN frames f ON f.frame_hash = k.innermost AND f.inline_depth = 0;

CREATE OR REPLACE VIEW folded_stacks AS
SELECT stack_hash, string_agg(name, ';' ORDER BY position DESC, inline_depth DESC) AS folded
FROM (
    SELECT k.stack_hash, k.position, f.inline_depth,
        replace(coalesce(
            f.function, CASE WHEN f.module LIKE '[%' THEN f.module ELSE '[' || f.module || ']' END
        ), ';', ':') AS name
    FROM stack_frames k
    JOIN frames f ON f.frame_hash = k.frame_hash
)
GROUP BY stack_hash;
