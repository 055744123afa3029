"""Every view and action of the page, in a real browser before a real krond (web/test/page.mjs)."""

import unittest

from browser_host import OnBrowser
from web_host import NEVER

HOSTILE = r"""printf '</script><img src=x onerror=alert(1)>\n\033[31mred\033[0m \033]8;;http://evil.example\033\\link\033[2J\n'
printf '\342\200\256right to left\n'; echo behind it"""
WIDE = "echo before it; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo behind it"
FLAKY = """echo reading 12 files; echo checking
if [ -e {flag} ]; then echo ok; else echo "no rate for CHF" >&2; exit 3; fi"""


class Page(OnBrowser):
    def write_jobs(self):
        self.flag = self.host.root / "flag"
        self.host.write_jobs(
            self.host.job("hello", "*/15 * * * *", "echo hello", description="says hello"),
            self.host.job("failing", NEVER, "echo no rate for CHF; exit 3"),
            self.host.job("flaky", NEVER, FLAKY.format(flag=self.flag)),
            self.host.job("team/a.b", NEVER, "true"),
            self.host.job("paris", "30 2 * * *", "true", timezone="Europe/Paris"),
            self.host.job("spread", "0 0 * * *", "true", window="3h", timezone="Europe/Paris",
                          avoid={"between": "01:15-02:00"}, policy={"deadline": "30m"}, timeout="2h"),
            self.host.job("hostile", NEVER, HOSTILE, description="<b>bold</b><img src=x onerror=alert(2)>"),
            self.host.job("wide", NEVER, WIDE),
            self.host.job("lasting", NEVER, "echo holding; sleep 600"),
            self.host.job("slot/holder", NEVER, "sleep 600", pool="one:1", policy={"deadline": "1h"}),
            self.host.job("slot/ruled", NEVER, "true", pool="one:1", retry=3, backoff="1m", success_exit="0,2",
                          policy={"deadline": "1h", "pauseAfter": 2, "catchUpSpread": "5m"}),
            *(self.host.job(f"many/{i}", NEVER, "true") for i in range(25)))

    def test_page(self):
        self.drive("page.mjs")

    def do_job(self, job):
        return self.api.get("jobs", job)

    def do_why(self, job, at):
        """What `kron why` says: what happened, because of what, and what instead; times as RFC 3339."""
        said = self.host.kron("why", job, "--at", at).stdout.splitlines()
        lines = [said[0]] + [line.split(None, 1)[1] for line in said[1:] if line.startswith(("because", "instead"))]
        return {"lines": [line.rstrip(".") for line in lines]}

    def do_end(self, run):
        self.api.post("runs", run, "kill")
        return {}

    def do_succeed(self):
        self.flag.touch()
        return {}

    def do_fail(self):
        self.flag.unlink()
        return {}

    def do_submit(self, task):
        return self.api.post("tasks", body={"taskId": task, "payload": {"type": "T", "data": {"n": 1}}, "maxAttempts": 1})

    def do_pending(self, task):
        """Until a worker has failed at it."""
        lease = self.lease(types=["T"])[0]
        self.api.post("leases", lease["execId"], "fail", body={"token": lease["token"], "reason": "no rate for CHF"})
        return self.api.get("tasks", task)

    def do_simulate(self):
        jobs = "".join(f"0 0 * * * @win(after,3h) name=host-{i}/backup command=true\n" for i in range(200))
        made = self.host.kron("simulate", "--source", "kron", "-", "--from", "2026-03-01T00:00:00Z", "--for", "6h",
                              "--format", "html", text=jobs)
        path = self.host.root / "load.html"
        path.write_text(made.stdout, encoding="utf-8")
        return {"path": str(path)}


if __name__ == "__main__":
    unittest.main()
