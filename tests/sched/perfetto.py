# Whether Perfetto's published messages know all fields of a trace.
import sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

def check(message, path):
    unknown = [field.field_number for field in UnknownFieldSet(message)]
    assert not unknown, (path, unknown)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in [value] if hasattr(value, "ListFields") else value:
                check(one, f"{path}.{field.name}")

trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
assert trace.packet
for packet in trace.packet:
    check(packet, "packet")
