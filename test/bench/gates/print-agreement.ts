import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import type { Isolate } from '../../../shared/ports/isolate.ts'
import { randomFrom } from '../../machines/random-dags.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import type { Promptfoo } from './promptfoo.ts'
import { BUILDERS, buildSample, type Sample } from './samples.ts'

interface Given {
  readonly promptfoo: Promptfoo
  readonly isolate: Isolate
  readonly inputs: number
  readonly print: (line: string) => void
}

interface Tally {
  agree: number
  both: number
  ours: number
  theirs: number
  readonly reasons: Map<string, number>
  readonly unexplained: Sample[]
}

/** How often both answer the same, and why not; answers how many differences nothing known explains. */
export async function printAgreement({ promptfoo, isolate, inputs, print }: Given): Promise<number> {
  print(`\nThe same answer? ${inputs} inputs a gate`)
  print(row('', ['agree', 'both pass', 'ours only', 'theirs only', 'unexplained']))
  let unexplained = 0
  for (const [at, name] of Object.keys(BUILDERS).entries()) {
    const random = randomFrom(1_000 + at)
    const tally: Tally = { agree: 0, both: 0, ours: 0, theirs: 0, reasons: new Map(), unexplained: [] }
    for (let i = 0; i < inputs; i += 1) {
      const sample = buildSample(name, random)
      count(tally, name, sample, await oursPasses(sample, isolate), await theirsPasses(sample, promptfoo))
    }
    unexplained += tally.unexplained.length
    const { agree, both, ours, theirs } = tally
    print(row(name, [agree, both, ours, theirs, tally.unexplained.length].map(String)))
    for (const [why, times] of tally.reasons) print(`      ${String(times).padStart(3)} x ${why}`)
    for (const sample of tally.unexplained.slice(0, 3)) print(`      unexplained: ${sample.text.slice(0, 300)}`)
  }
  return unexplained
}

/** A check that is refused when the document is read passes nothing. */
async function oursPasses({ check, port, measured }: Sample, isolate: Isolate): Promise<boolean> {
  const parsed = parseCheck(check)
  if (!parsed.ok) return false
  const use = { name: 'g', check: parsed.check, on_fail: 'retry' } as const
  const facts = { inputs: {}, outputs: { a: port }, measured: { cost_usd: measured, latency_ms: measured } }
  return (await judgeGate(use, facts, { isolate }, () => 0)).passed
}

function theirsPasses({ theirs, port, measured }: Sample, promptfoo: Promptfoo): Promise<boolean> {
  // null stands for what a provider did not say, as a JSON file of its answer would have it.
  const seen = measured as number
  return promptfoo.passes(theirs, { output: port, cost: seen, latencyMs: seen })
}

function count(tally: Tally, name: string, sample: Sample, ours: boolean, theirs: boolean): void {
  if (ours === theirs) {
    tally.agree += 1
    if (ours) tally.both += 1
    return
  }
  const only = ours ? 'ours' : 'theirs'
  tally[only] += 1
  const known = KNOWN_DIFFERENCES.find(
    (row) => row.gates.includes(name) && (row.only === only || row.only === 'either') && row.when(sample),
  )
  if (known === undefined) tally.unexplained.push(sample)
  else tally.reasons.set(known.why, (tally.reasons.get(known.why) ?? 0) + 1)
}

function row(label: string, cells: readonly string[]): string {
  return `  ${label.padEnd(26)}${cells.map((cell) => cell.padStart(13)).join('')}`
}
