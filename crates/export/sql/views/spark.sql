-- The tables of the folder `profiles` as views, for the queries in the folder above. To read another folder, change the
-- paths. To read fewer days and machines, add them to the paths, and say where the names of partitions begin:
-- OPTIONS (path 'profiles/samples/date=2026-11-24', basePath 'profiles/samples').
--
-- `all_stacks` and `all_frames` have the rows of all recordings; `stacks` and `frames` have each stack and each code
-- location once: from the recording that knows most of it. Positions and inline depths are from 0, innermost first.
-- The schema is stated, so that no file is opened to find it, and machines like `007` are no numbers. Columns that a
-- file lacks are NULL.

CREATE OR REPLACE TEMPORARY VIEW all_samples (
    time_ns BIGINT, boot STRING, recording STRING, pid INT, tid INT, comm STRING, cpu INT, event STRING,
    weight BIGINT, period BIGINT, state STRING, cause STRING, span STRING, stack_hash BIGINT, span_start_ns BIGINT,
    span_ns BIGINT, date STRING, machine STRING
) USING parquet OPTIONS (path 'profiles/samples');

CREATE OR REPLACE TEMPORARY VIEW recordings (
    recording STRING, boot STRING, event STRING, unit STRING, samples BIGINT, weight BIGINT, lost BIGINT,
    lost_at_least BOOLEAN, rate_hz BIGINT, every BIGINT, start_ns BIGINT, end_ns BIGINT, wall_offset_ns BIGINT,
    stacks_unwound BIGINT, stacks_complete BIGINT, stacks_truncated BIGINT, throttles BIGINT, throttled_ns BIGINT,
    n_cpus INT, quality STRING, source STRING, clock STRING, kernel STRING, arch STRING, cpu_model STRING,
    command STRING, recorder STRING, date STRING, machine STRING
) USING parquet OPTIONS (path 'profiles/recordings');

-- An export that did not end leaves samples of no recording.
CREATE OR REPLACE TEMPORARY VIEW samples AS
SELECT * FROM all_samples WHERE recording IN (SELECT recording FROM recordings);

CREATE OR REPLACE TEMPORARY VIEW all_stacks (
    recording STRING, stack_hash BIGINT, frame_hashes ARRAY<BIGINT>, date STRING, machine STRING
) USING parquet OPTIONS (path 'profiles/stacks');

CREATE OR REPLACE TEMPORARY VIEW all_frames (
    recording STRING, frame_hash BIGINT, inline_depth INT, build_id STRING, offset BIGINT, function STRING,
    is_inlined BOOLEAN, module STRING, path STRING, level STRING, file STRING, line INT, known BIGINT, date STRING,
    machine STRING
) USING parquet OPTIONS (path 'profiles/frames');

CREATE OR REPLACE TEMPORARY VIEW stacks AS
SELECT stack_hash, any_value(get(s.frame_hashes, 0)) AS innermost, any_value(s.frame_hashes) AS frame_hashes
FROM all_stacks s
GROUP BY stack_hash;

CREATE OR REPLACE TEMPORARY VIEW stack_frames AS
SELECT stack_hash, position, frame_hash
FROM stacks
LATERAL VIEW posexplode(frame_hashes) exploded AS position, frame_hash;

-- Each row from the recording that knows its location best. With one sort key, engines need neither sort nor join.
CREATE OR REPLACE TEMPORARY VIEW frames AS
SELECT frame_hash, inline_depth, build_id, `offset`, function, is_inlined, module, path, level, file, line
FROM (
    SELECT *, row_number() OVER (PARTITION BY frame_hash, inline_depth ORDER BY known DESC) AS place
    FROM all_frames
) ranked
WHERE place = 1;

CREATE OR REPLACE TEMPORARY VIEW innermost_functions AS
SELECT k.stack_hash AS stack_hash, f.function AS function, f.level AS level, f.is_inlined AS is_inlined,
    f.module AS module
FROM stacks k
JOIN frames f ON f.frame_hash = k.innermost AND f.inline_depth = 0;

CREATE OR REPLACE TEMPORARY VIEW folded_stacks AS
SELECT stack_hash, array_join(transform(
    array_sort(collect_list(struct(-position AS outer, -inline_depth AS depth, name))), frame -> frame.name
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
