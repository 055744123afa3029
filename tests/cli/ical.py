"""Reads a calendar with libical, which is not ours, for the tests of what we write."""

import ctypes
import ctypes.util
from collections import namedtuple

Event = namedtuple("Event", "uid summary description start seconds is_date")


class Time(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in
                ("year", "month", "day", "hour", "minute", "second", "is_date", "is_daylight")] + [("zone", ctypes.c_void_p)]


class Length(ctypes.Structure):
    _fields_ = [("is_neg", ctypes.c_int), *((name, ctypes.c_uint) for name in ("days", "weeks", "hours", "minutes", "seconds"))]


VEVENT = 4  # ICAL_VEVENT_COMPONENT


def _library():
    ical = ctypes.CDLL("libical.so.3")
    component = ctypes.c_void_p
    for name, answer, takes in (("icalparser_parse_string", component, [ctypes.c_char_p]),
                                ("icalcomponent_free", None, [component]),
                                ("icalcomponent_count_errors", ctypes.c_int, [component]),
                                ("icalcomponent_get_first_component", component, [component, ctypes.c_int]),
                                ("icalcomponent_get_next_component", component, [component, ctypes.c_int]),
                                ("icalcomponent_get_uid", ctypes.c_char_p, [component]),
                                ("icalcomponent_get_summary", ctypes.c_char_p, [component]),
                                ("icalcomponent_get_description", ctypes.c_char_p, [component]),
                                ("icalcomponent_get_dtstart", Time, [component]),
                                ("icalcomponent_get_duration", Length, [component])):
        function = getattr(ical, name)
        function.restype, function.argtypes = answer, takes
    return ical


def events_of(text):
    """The events of a calendar; an error when libical finds one in it."""
    ical = _library()
    root = ical.icalparser_parse_string(text.encode())
    assert root, "libical cannot read it"
    try:
        assert ical.icalcomponent_count_errors(root) == 0, "libical has left something out"
        events = []
        event = ical.icalcomponent_get_first_component(root, VEVENT)
        while event:
            start = ical.icalcomponent_get_dtstart(event)
            length = ical.icalcomponent_get_duration(event)
            time = f"{start.year:04}-{start.month:02}-{start.day:02}"
            if not start.is_date:
                time += f"T{start.hour:02}:{start.minute:02}:{start.second:02}Z"
            events.append(Event(*((value or b"").decode() for value in (ical.icalcomponent_get_uid(event),
                                                                        ical.icalcomponent_get_summary(event),
                                                                        ical.icalcomponent_get_description(event))),
                                time, ((length.days * 24 + length.hours) * 60 + length.minutes) * 60 + length.seconds,
                                bool(start.is_date)))
            event = ical.icalcomponent_get_next_component(root, VEVENT)
        return events
    finally:
        ical.icalcomponent_free(root)
