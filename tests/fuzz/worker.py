"""tests/fuzz/worker.py - a process that answers requests: its end, or a hang, is a finding."""

import json
import select
import subprocess


class Worker:
    """Answers of a command that reads a request a line, as JSON, and writes an answer a line.

    It is started when first asked, and again where it has ended.
    """

    def __init__(self, command, seconds):
        self.command = command
        self.seconds = seconds  # for one answer
        self.process = None

    def ask(self, request):
        """Its answer, or {"end": how} where it ends or hangs."""
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
            line = self.process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        if line is None:
            self.process.kill()
        status = self.process.wait()
        self.process = None
        return {"end": "hang" if line is None else f"exit status {status}"}

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
