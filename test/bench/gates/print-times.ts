import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import type { Isolate } from '../../../shared/ports/isolate.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { Promptfoo } from './promptfoo.ts'
import { textsOf } from './texts.ts'
import { type Compared, MEASURED, shown, twenty } from './twenty.ts'

const BYTES = 100_000
/** Rounds nobody counts: the engine compiles what it sees often. */
const WARM_UPS = 15

interface Given {
  readonly promptfoo: Promptfoo
  readonly isolate: Isolate
  readonly rounds: number
  readonly print: (line: string) => void
}

interface Timed {
  readonly label: string
  readonly ours: () => Promise<boolean>
  readonly theirs: (() => Promise<boolean>) | undefined
  readonly ms: { readonly ours: number[]; readonly theirs: number[] }
}

/**
 * Ours is the whole verdict (the check, the reason, the sha256 of what was read); theirs the whole assertion. Both in
 * turns, gate by gate, who is first changes each round, so that a machine that is slow for a while is slow for both.
 */
export async function printTimes({ promptfoo, isolate, rounds, print }: Given): Promise<void> {
  const gates = twenty(textsOf(BYTES)).map((compared) => timed(compared, promptfoo, isolate))
  for (const { label, ours, theirs } of gates) {
    if (!(await ours())) throw new Error(`${label} must pass here`)
    if (theirs !== undefined && !(await theirs())) throw new Error(`${label} must pass in promptfoo`)
  }
  for (let round = 0; round < WARM_UPS + rounds; round += 1) {
    for (const gate of gates) await turn(gate, round % 2 === 0)
  }
  print(`\n${gates.length} gates on ${BYTES / 1_000} KB, ${rounds} rounds after ${WARM_UPS}: milliseconds`)
  print(row('', ['p50', 'p95', 'promptfoo p50', 'p95', 'ours / theirs']))
  for (const { label, ms } of gates) print(row(label, figures(ms.ours, ms.theirs)))
  const both = gates.filter(({ theirs }) => theirs !== undefined)
  print(row(`all ${gates.length}`, figures(sums(gates, 'ours'), [])))
  print(row(`the ${both.length} of both`, figures(sums(both, 'ours'), sums(both, 'theirs'))))
}

function timed(compared: Compared, promptfoo: Promptfoo, isolate: Isolate): Timed {
  const parsed = parseCheck(compared.check)
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message)
  const use = { name: 'g', check: parsed.check, on_fail: 'retry' } as const
  const facts = { inputs: {}, outputs: { a: compared.port }, measured: MEASURED }
  const { theirs } = compared
  const answered = shown(compared)
  return {
    label: labelOf(compared.check),
    ours: async () => (await judgeGate(use, facts, { isolate }, () => performance.now())).passed,
    theirs: theirs === undefined ? undefined : () => promptfoo.passes(theirs, answered),
    ms: { ours: [], theirs: [] },
  }
}

function labelOf(check: Readonly<Record<string, Json>>): string {
  return check.case_sensitive === true ? `${check.type}, case_sensitive` : String(check.type)
}

async function turn({ ours, theirs, ms }: Timed, oursFirst: boolean): Promise<void> {
  if (oursFirst) ms.ours.push(await took(ours))
  if (theirs !== undefined) ms.theirs.push(await took(theirs))
  if (!oursFirst) ms.ours.push(await took(ours))
}

async function took(run: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

/** The time of the whole set in each round. */
function sums(gates: readonly Timed[], who: 'ours' | 'theirs'): readonly number[] {
  const [first] = gates
  return (first?.ms[who] ?? []).map((_, round) => gates.reduce((sum, { ms }) => sum + (ms[who][round] ?? 0), 0))
}

function figures(ours: readonly number[], theirs: readonly number[]): readonly string[] {
  const own = [ours, ours].map((values, i) => figure(quantile(values, i === 0 ? 0.5 : 0.95)))
  if (theirs.length === 0) return [...own, '-', '-', '-']
  const other = [0.5, 0.95].map((share) => figure(quantile(theirs, share)))
  return [...own, ...other, `${(quantile(ours, 0.5) / quantile(theirs, 0.5)).toFixed(2)}x`]
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.slice(WARM_UPS).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function figure(ms: number): string {
  return ms.toFixed(3)
}

function row(label: string, cells: readonly string[]): string {
  return `  ${label.padEnd(26)}${cells.map((cell) => cell.padStart(15)).join('')}`
}
