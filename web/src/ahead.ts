// Answers of krond that the API's document does not have yet, and what its answers will have besides.
import type { Decision, Paused, Problem } from "./api_types";

export interface JobAhead {
  words?: string;
  source?: string | null;
  firstSeen?: string | null;
}
// By whom, and what he said about it.
export interface PauseAhead {
  by?: string;
  note?: string;
}
export interface PausedMany {
  jobs: (Paused | { identity: string; problem: Problem })[];
}
export interface RunAhead {
  delaySeconds?: number;
  durationSeconds?: number;
}

export interface Days {
  days: { day: string; counts: Record<string, number>; runs: number; sumSeconds: number; maxSeconds: number }[];
}

export interface Tried {
  problems: { line: number; column: number; severity: string; field: string; message: string; hint: string; source: string }[];
  jobs: { identity: string; line: number; schedule: string; timezone: string; words?: string; replaces: boolean; next: Decision[]; nextProblem?: string }[];
  load: { from: string; until: string; stepSeconds: number; starts: number; startsHere: number; peakHere: number; peak: number; adds: number; busiest: string };
  text: string;
}
