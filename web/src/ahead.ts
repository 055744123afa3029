// Answers of krond that the API's document does not have yet. Where krond does not know them, the page makes do without.
export interface Timeline {
  from: string;
  until: string;
  now: string;
  lanes: Lane[];
  more: number;
  before: number[];
  after: number[];
  actual?: number[];
}
// Times are whole seconds from `from`.
export interface Lane {
  name: string;
  jobs: number;
  usual?: number | null;
  mark?: string | null;
  periods?: [number, number, number, number | null][]; // nominal, start and end of the window, chosen
  runs?: [number | null, number, number | null, string, string][]; // chosen, start, end, what came of it, id
  density?: [number, number][]; // column, starts
  windows?: [number, number][];
}

export interface AttentionItem {
  matter: string;
  name: string; // of the job, or of the file; empty: krond itself
  what: string;
  since: string | null;
  count: number;
  reason: string;
  cure: string;
  runId?: string; // what this page adds
}
export interface Attention {
  jobs: number;
  jobsInNeed: number;
  items: AttentionItem[];
  more: number;
}

// Why a job ran, or did not.
export interface Why {
  verdict: string;
  sentence: string;
  reason: string;
  instead: string;
}

export interface Explanation {
  buckets: { share: number; allowed: number }[];
}
