import { PRICES } from '../../../../shared/plan/aws-prices.ts'
import { count, durationWords } from '../../terminal/format.ts'
import type { ProofCounts } from './proof-stage.ts'
import type { Leftover } from './take-down.ts'

/** What came of a step. */
export interface Outcome {
  readonly name: string
  readonly claims: string
  /** `not tried`: the steps were over before it. */
  readonly held: 'yes' | 'no' | 'not tried'
  readonly seen: string
  readonly ms: number
}

/** What a proof ended with. */
export interface Proof {
  readonly stage: string
  readonly region: string
  readonly version: string
  /** Of its begin, as ISO 8601. */
  readonly at: string
  readonly outcomes: readonly Outcome[]
  readonly counts: ProofCounts
  /** How long the stage stood, and what it costs idle. */
  readonly stood_ms: number
  readonly idle_usd_a_month: number
  readonly requests_usd: number
  readonly left: readonly Leftover[]
}

const MONTH_MS = 730 * 3_600_000

/** What it cost by the model: what was counted times list prices, and the hours the stage stood. */
function proofUsd({ counts, requests_usd, idle_usd_a_month, stood_ms }: Proof): number {
  return counts.usd + requests_usd + (idle_usd_a_month * stood_ms) / MONTH_MS
}

/** As lines for people. */
export function proofLines(proof: Proof): readonly string[] {
  const { outcomes, left } = proof
  const held = outcomes.filter((outcome) => outcome.held === 'yes').length
  return [
    `${held} of ${count(outcomes.length, 'step')} held`,
    ...outcomes.map(({ name, held: how, seen, ms }) => `  ${WORDS[how]} ${name} (${durationWords(ms)}): ${seen}`),
    costLine(proof),
    ...(left.length === 0 ? ['Nothing of the stage is left.'] : ['Left:']),
    ...left.flatMap(({ what, why, command }) => [`  ${what}: ${why}`, `    ${command}`]),
  ]
}

const WORDS = { yes: 'held     ', no: 'NOT HELD ', 'not tried': 'not tried' } as const

function costLine(proof: Proof): string {
  const { counts, stood_ms } = proof
  const counted = `${count(counts.runs, 'run')} of ${count(counts.blocks, 'block')}, ${count(counts.requests, 'request')}`
  return `Cost about $${proofUsd(proof).toFixed(2)}: ${counted}, ${durationWords(stood_ms)} of an idle stage, at list prices of ${PRICES.region}, ${PRICES.as_of}. A bill may differ: storage, transfer and what others do in the account are not in it.`
}

/** As a section for docs/differences.md: no account number, no address. */
export function proofPage(proof: Proof): string {
  const { at, region, version, outcomes, left } = proof
  const rows = outcomes.map(({ name, claims, held, seen }) => `| ${[name, claims, held, seen].map(cell).join(' | ')} |`)
  return [
    `### ${at.slice(0, 10)}, ${region}, version ${version}`,
    '',
    `\`sluice deploy --prove\` of a stage that stood ${durationWords(proof.stood_ms)} and was taken down again.`,
    '',
    '| step | what is claimed | held | seen |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    costLine(proof),
    '',
    left.length === 0
      ? 'Nothing of the stage was left.'
      : `Left: ${left.map(({ what, why }) => `${what} (${why})`).join('; ')}.`,
    '',
  ].join('\n')
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 600)
}
