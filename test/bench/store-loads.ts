import { foldRun } from '../../shared/runs/fold-run.ts'
import { ordinal } from '../../shared/runs/lane.ts'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { at, keyOf, newRun, ready, step } from '../conformance/run-store-fixture.ts'

/** One thing that is measured. */
export interface Load {
  readonly name: string
  /** Puts there what it needs, in run `n`; then each call answers events a second of one round. */
  open(store: RunStore, n: number): Promise<(round: number) => Promise<number>>
}

const APPENDS = 320
const REPLAYED = 10_000
/** Of one append; the port allows 24. */
const AT_ONCE = 20

/** Writers of one run, each on a lane of its own, one event an append; then what readers do. */
export const LOADS: readonly Load[] = [
  ...[1, 16, 64].map(
    (writers): Load => ({
      name: `append, ${writers} writer${writers === 1 ? '' : 's'}`,
      async open(store, n) {
        const run = await begun(store, n)
        const each = APPENDS / writers
        return (round) =>
          rate(APPENDS, () => Promise.all(lanes(writers).map((lane) => write(store, run, lane, round * each, each))))
      },
    }),
  ),
  {
    name: 'read, 100 a page',
    async open(store, n) {
      const run = await filled(store, n, 2_000)
      return () => rate(2_000, () => readAll(store, run, 100))
    },
  },
  {
    name: 'replay of 10,000',
    async open(store, n) {
      const run = await filled(store, n, REPLAYED)
      return () => rate(REPLAYED, async () => foldRun(await readAll(store, run, 1_000)))
    },
  },
]

const lanes = (n: number) => Array.from({ length: n }, (_, i) => String(i))

async function begun(store: RunStore, n: number): Promise<RunKey> {
  const run = newRun(n)
  await store.create(run)
  return keyOf(run.meta)
}

async function write(store: RunStore, run: RunKey, lane: string, after: number, many: number): Promise<void> {
  for (let i = 1; i <= many; i += 1) {
    const place = { epoch: Math.floor((after + i) / 900), attempt: ((after + i) % 900) + 1, phase: 10 }
    const written = await store.append(step(run, lane, ordinal(place), { events: [ready(`b${lane}`)] }))
    if (!written.ok) throw new Error(`Append ${i} of lane ${lane} was refused: ${written.because}.`)
  }
}

async function filled(store: RunStore, n: number, events: number): Promise<RunKey> {
  const run = await begun(store, n)
  for (let i = 1; i <= events / AT_ONCE; i += 1) {
    const some = Array.from({ length: AT_ONCE }, (_, k) => ready(`b${k}`))
    await store.append(step(run, '0', at(Math.floor(i / 90) + 1, (i % 90) + 1), { events: some }))
  }
  return run
}

async function readAll(store: RunStore, run: RunKey, page: number) {
  const all = []
  for (;;) {
    const events = await store.events(run, all.length, page)
    all.push(...events)
    if (events.length < page) return all
  }
}

async function rate(events: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (events * 1_000) / (performance.now() - started)
}
