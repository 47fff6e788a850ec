"""Ctrl-C, and how long a program takes to answer it."""

import signal
import sys
import time


def interrupt(process, given=None):
    """Interrupt a program, and return the seconds it took to answer and the rest of its output, by line.

    The program says first when it answered: `print(time.time(), time.process_time())`. On a busy machine the wall clock
    also measures the work of others. So the lesser of two times counts: that of the wall clock and that of the CPUs
    that the program has used. Where the latter cannot be read from outside, the former counts.
    """
    sent = time.time(), _used(process.pid)
    process.send_signal(signal.SIGINT)
    first, *rest = process.communicate(given, timeout=60)[0].splitlines()
    answered = map(float, first.split())
    return min(after - before for after, before in zip(answered, sent, strict=True)), rest


def _used(pid):
    """Return the processor time that another process has used."""
    if not sys.platform.startswith("linux"):
        return -float("inf")
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes the clock of a process
