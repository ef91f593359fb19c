-- The tables of the folder `profiles` as views, for the queries in the folder above. To read another folder, or fewer
-- days and machines, change the paths: 'profiles/samples/date=2026-11-24/machine=*/*.parquet'.
--
-- `all_stacks` and `all_frames` have the rows of all recordings; `stacks` and `frames` have each stack and each code
-- location once: from the recording that knows most of it. Positions and inline depths are from 0, innermost first.
-- Columns that a file lacks are NULL.

-- What an outer join does not find is NULL, as in other engines.
SET join_use_nulls = 1;
SET cast_keep_nullable = 1;
-- `machine` is the column of the files, not what their folders are called.
SET use_hive_partitioning = 0;

CREATE OR REPLACE VIEW recordings AS
SELECT *, nullIf(extract(_path, '/date=([^/]*)/'), '__HIVE_DEFAULT_PARTITION__') AS date
FROM file('profiles/recordings/date=*/machine=*/*.parquet', Parquet, '
    recording String, machine Nullable(String), boot Nullable(String), event String, unit String, samples Int64,
    weight Int64, lost Nullable(Int64), lost_at_least Bool, rate_hz Nullable(Int64), every Nullable(Int64),
    start_ns Nullable(Int64), end_ns Nullable(Int64), wall_offset_ns Nullable(Int64), stacks_unwound Nullable(Int64),
    stacks_complete Nullable(Int64), stacks_truncated Nullable(Int64), throttles Nullable(Int64),
    throttled_ns Nullable(Int64), n_cpus Nullable(Int32), quality String, source Nullable(String),
    clock Nullable(String), kernel Nullable(String), arch Nullable(String), cpu_model Nullable(String),
    command Nullable(String), recorder Nullable(String)
');

-- An export that did not end leaves samples of no recording.
CREATE OR REPLACE VIEW samples AS
SELECT *, nullIf(extract(_path, '/date=([^/]*)/'), '__HIVE_DEFAULT_PARTITION__') AS date
FROM file('profiles/samples/date=*/machine=*/*.parquet', Parquet, '
    time_ns Nullable(Int64), machine Nullable(String), boot Nullable(String), recording String, pid Nullable(Int32),
    tid Nullable(Int32), comm String, cpu Nullable(Int32), event String, weight Int64, period Nullable(Int64),
    state Nullable(String), cause Nullable(String), span Nullable(String), stack_hash Nullable(Int64),
    span_start_ns Nullable(Int64), span_ns Nullable(Int64)
')
WHERE recording IN (SELECT recording FROM recordings);

CREATE OR REPLACE VIEW all_stacks AS
SELECT *, nullIf(extract(_path, '/date=([^/]*)/'), '__HIVE_DEFAULT_PARTITION__') AS date
FROM file('profiles/stacks/date=*/machine=*/*.parquet', Parquet, '
    recording String, stack_hash Int64, frame_hashes Array(Int64)
');

CREATE OR REPLACE VIEW all_frames AS
SELECT *, nullIf(extract(_path, '/date=([^/]*)/'), '__HIVE_DEFAULT_PARTITION__') AS date
FROM file('profiles/frames/date=*/machine=*/*.parquet', Parquet, '
    recording String, frame_hash Int64, inline_depth Int32, build_id Nullable(String), offset Nullable(Int64),
    function Nullable(String), is_inlined Bool, module String, path Nullable(String), level String,
    file Nullable(String), line Nullable(Int32), known Int64
');

CREATE OR REPLACE VIEW stacks AS
SELECT stack_hash, any(s.frame_hashes[1]) AS innermost, any(s.frame_hashes) AS frame_hashes
FROM all_stacks s
GROUP BY stack_hash;

CREATE OR REPLACE VIEW stack_frames AS
SELECT stack_hash, toInt64(position) AS position, frame_hash
FROM stacks
ARRAY JOIN range(length(frame_hashes)) AS position, frame_hashes AS frame_hash;

-- Each row from the recording that knows its location best. With one sort key, engines need neither sort nor join.
CREATE OR REPLACE VIEW frames AS
SELECT frame_hash, inline_depth, build_id, `offset`, function, is_inlined, module, path, level, file, line
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
SELECT stack_hash, arrayStringConcat(arrayMap(
    frame -> frame.3, arraySort(groupArray((-position, -inline_depth, name)))
), ';') AS folded
FROM (
    SELECT k.stack_hash, k.position, f.inline_depth,
        replace(coalesce(
            f.function, CASE WHEN f.module LIKE '[%' THEN f.module ELSE '[' || f.module || ']' END
        ), ';', ':') AS name
    FROM stack_frames k
    JOIN frames f ON f.frame_hash = k.frame_hash
)
GROUP BY stack_hash;
