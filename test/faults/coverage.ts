import { FUNCTIONS } from '../../shared/catalog.ts'

/** How often each fault point was reached and what happened there, over many seeds. */
export interface Counts {
  readonly reached: Record<string, number>
  readonly struck: Record<string, number>
}

/** A point counts as covered when it was reached so often. */
const WANTED = 20

/**
 * Keys are read by adapters; spans, and words of a model as they come, leave by the way, and nobody waits for them; what
 * the isolate works out is answered in the same thread; the code of a project is not simulated, only what is called of it
 * (docs/faults.md).
 */
const NO_POINTS: ReadonlySet<string> = new Set(['secrets', 'telemetry', 'live', 'isolate', 'modules'])
/**
 * What only looks and moves no run: health, the anchors of a finished run, and whether
 * the token behind a decision that a retry takes over is still there.
 */
const NOT_SIMULATED = new Set([
  'get-health/health',
  'verify-run/anchors',
  ...['open-child', 'open-wait', 'request-approval', 'run-block'].map((name) => `${name}/tokens`),
  // Gates in front of a wait or a step: they are those of every block.
  ...['open-step', 'open-wait'].flatMap((name) => ['http', 'providers', 'shell'].map((port) => `${name}/${port}`)),
  // A wait takes no slot: only a gate in front of it that asks a provider would wait for one.
  'open-wait/waker',
  // What only looks at runs, and names of searches, move no run.
  ...['count-runs', 'list-views', 'put-view', 'delete-view', 'list-bulks', 'get-bulk'].map((name) => `${name}/runs`),
  // Retries in bulk are of a small document, by a person.
  ...['tokens', 'mcp', 'providers', 'steps'].map((port) => `run-bulk/${port}`),
  // Who starts and waits for the end looks as a stream does.
  'start-run/waker',
  ...['open-child/steps', 'open-step/tokens'],
  // Tools that look into the graph move nothing, and `services` gives a key; the research chain's own looks are simulated.
  ...['graph', 'search', 'services'].map((port) => `run-block/${port}`),
])

export function addCounts(
  sum: Counts,
  more: { reached: Iterable<[string, number]>; struck: Iterable<[string, number]> },
): void {
  for (const [name, n] of more.reached) sum.reached[name] = (sum.reached[name] ?? 0) + n
  for (const [name, n] of more.struck) sum.struck[name] = (sum.struck[name] ?? 0) + n
}

/** Faults by kind. */
export function kindsIn({ struck }: Counts): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = {}
  for (const [name, n] of Object.entries(struck)) {
    const kind = name.split(' ')[0] ?? ''
    kinds[kind] = (kinds[kind] ?? 0) + n
  }
  return kinds
}

/** Points that were reached too seldom; ports of the catalog that no call of their function was seen to use. */
export function uncovered({ reached }: Counts): readonly string[] {
  const seldom = Object.entries(reached).filter(([name, n]) => /\/(before|after)$/.test(name) && n < WANTED)
  const unseen = FUNCTIONS.filter(({ serves = 'step' }) => serves === 'step').flatMap(({ name, ports }) =>
    ports
      .filter((port) => !NO_POINTS.has(port) && !NOT_SIMULATED.has(`${name}/${port}`))
      .filter((port) => !Object.keys(reached).some((point) => point.startsWith(`${name}/${port}.`)))
      .map((port) => `${name}/${port}: never`),
  )
  return [...seldom.map(([name, n]) => `${name}: ${n} times`), ...unseen].toSorted()
}
