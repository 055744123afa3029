// The hosts that share a Redis with this one.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { runningAsked, watch } from "../data";
import { status } from "../live";
import { Glyph, Panel, tickSecond } from "../parts";
import { counted, plain } from "../text";
import { counter, duration, now } from "../time";
import { timesIn } from "./job_why";

const LATE_BEAT = 15; // seconds
const FAR_CLOCK = 1; // seconds
const isRight = (offset: number): boolean => Math.abs(offset) < 0.002;

export function Cluster(): JSX.Element {
  useEffect(() => watch(runningAsked), []);
  void tickSecond.value;
  const cluster = status.value?.cluster;
  if (!status.value) return <p class="note">Asking krond…</p>;
  if (!cluster) return <Panel title="Cluster"><p class="note">This krond works alone: its jobs come from files, and its records are files. <code>krond --redis</code> makes it one of many.</p></Panel>;
  const runs = runningAsked.value.value ?? [];
  const hosts = [...cluster.hosts].sort((a, b) => (a.host < b.host ? -1 : 1));
  return (
    <>
      <div class="bar">
        <h1>Cluster</h1>
        <span class="soft">{counted(hosts.length, "host")} on {plain(cluster.redis)}, namespace {plain(cluster.namespace)}</span>
      </div>
      {!cluster.linkUp && <p class="alarm">The link to Redis is down: {plain(cluster.notReady ?? "krond tries again")}. This host starts nothing meanwhile.</p>}
      {cluster.draining && <p class="alarm">This host is draining: it takes no new runs.</p>}
      {cluster.warnings.map((warning) => <p class={`alarm ${warning.severity}`}>{timesIn(warning.message)}</p>)}
      <div class="cols">
        <div>
          <Panel title="Hosts">
            <div class="scroll">
              <table>
                <thead><tr><th>Host</th><th>State</th><th>Last heard</th><th>Clock</th><th>Running</th><th class="hide">Address</th><th class="hide">Version</th></tr></thead>
                <tbody>
                  {hosts.map((host) => {
                    const late = host.beatSecondsAgo > LATE_BEAT;
                    const off = Math.abs(host.clockOffsetSeconds) > FAR_CLOCK;
                    return (
                      <tr key={host.instance}>
                        <td><Glyph mark={late ? "miss" : "ok"} label={late ? "not heard of" : "up"} /> <b>{plain(host.host)}</b>{host.instance === cluster.instance ? <span class="faint"> this one</span> : null}</td>
                        <td class={late ? "c-miss" : ""}>{late ? "not heard of" : host.draining ? "draining" : "up"}</td>
                        <td class="num">{duration(host.beatSecondsAgo * 1000)} ago</td>
                        <td class={`num ${off ? "c-skip" : ""}`}>{isRight(host.clockOffsetSeconds) ? "right" : `off by ${duration(Math.abs(host.clockOffsetSeconds) * 1000)}`}</td>
                        <td class="num">{host.running}</td>
                        <td class="mono hide">{plain(host.ip)}</td>
                        <td class="hide">{plain(host.version)}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
          </Panel>
          <Panel title="Running" more={<span class="faint num">{runs.length}</span>} class="gap">
            {runs.length === 0 && <p class="note">Nothing.</p>}
            <ul class="list compact">
              {runs.slice(0, 40).map((run) => (
                <li key={run.runId}>
                  <Glyph mark="run" label="" />
                  <a class="cut" href={`#/runs/${run.runId}`}><bdi>{plain(run.job)}</bdi> <span class="faint">on {plain(run.host ?? "")}</span></a>
                  <span class="num">{run.startedAt ? counter(now() - Date.parse(run.startedAt)) : ""}</span>
                </li>
              ))}
            </ul>
          </Panel>
        </div>
        <aside>
          <Panel title="The link">
            <dl class="kv">
              <dt>Redis</dt><dd>{cluster.linkUp ? "answers" : "does not answer"}</dd>
              <dt>This host</dt><dd>{plain(cluster.host)} <span class="faint mono">{plain(cluster.instance)}</span></dd>
              <dt>Its clock</dt><dd class="num">{isRight(cluster.clockOffsetSeconds) ? "right" : `${duration(Math.abs(cluster.clockOffsetSeconds) * 1000)} ${cluster.clockOffsetSeconds > 0 ? "behind" : "ahead of"} Redis`}</dd>
              <dt>Zone</dt><dd>{plain(cluster.timezone)}</dd>
              <dt>Reconnects</dt><dd class="num">{cluster.reconnects}</dd>
              <dt>Lost writes</dt><dd class={`num ${cluster.lostWrites > 0 ? "c-fail" : ""}`}>{cluster.lostWrites}</dd>
              <dt>Tasks</dt><dd>{cluster.tasks === "redis" ? "in Redis" : "in files of each host"}</dd>
            </dl>
          </Panel>
        </aside>
      </div>
    </>
  );
}
