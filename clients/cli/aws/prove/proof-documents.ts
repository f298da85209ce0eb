import { PRICES } from '../../../../shared/plan/aws-prices.ts'
import { planDag } from '../../../../shared/plan/plan-dag.ts'
import { parseHere } from '../../documents/document-files.ts'
import { settingsOrDefaults } from '../../documents/settings-file.ts'

/** What a proof starts: documents that come with the request, and a model that costs nothing (provider `local`). */
export interface ProofDocument {
  readonly name: string
  readonly blocks: readonly object[]
  readonly edges?: readonly { readonly from: string; readonly to: string }[]
}

const OUTLINE = { provider: 'local', model: 'outline', prompt: 'Plan a small garden with three beds' }

function work(id: string, upstream: readonly string[] = []) {
  const inputs = Object.fromEntries(upstream.map((from, i) => [`i${i}`, { from: `${from}.text` }]))
  return { id, ...(upstream.length > 0 && { inputs }), outputs: { text: { type: 'string' } }, agent: OUTLINE }
}

/** Three blocks one after the other, the last behind a gate. */
export const CHAIN: ProofDocument = {
  name: 'proof-chain',
  blocks: [
    work('a'),
    work('b', ['a']),
    {
      ...work('c', ['b']),
      post_gates: [{ name: 'long-enough', check: { type: 'min_length', port: 'text', min: 10 } }],
    },
  ],
}

/** A person's yes before the work. */
export const ASKED: ProofDocument = {
  name: 'proof-asked',
  blocks: [
    {
      id: 'go',
      mode: 'approval',
      outputs: { decided_by: 'string' },
      approval: { prompt: 'Go on?', timeout_sec: 86_400 },
    },
    work('act'),
  ],
  edges: [{ from: 'go', to: 'act' }],
}

/** Work, a wait of so many seconds, work: what a stream shows while nothing is at work, and what wakes up in a deployment. */
export function waiting(seconds: number): ProofDocument {
  return {
    name: 'proof-waiting',
    blocks: [work('before'), { id: 'pause', mode: 'wait', wait: { for: `${seconds}s` } }, work('after')],
    edges: [
      { from: 'before', to: 'pause' },
      { from: 'pause', to: 'after' },
    ],
  }
}

/** So many blocks, none after another. */
export function wide(blocks: number): ProofDocument {
  return { name: 'proof-wide', blocks: Array.from({ length: blocks }, (_, i) => work(`b${i}`)) }
}

const WIDTH = 5

/** Five blocks side by side, each after two of those before it. */
export function large(blocks: number): ProofDocument {
  return {
    name: 'proof-large',
    blocks: Array.from({ length: blocks }, (_, i) => {
      const above = i - WIDTH
      if (above < 0) return work(`b${i}`)
      return work(`b${i}`, [`b${above}`, `b${above % WIDTH === WIDTH - 1 ? above - 1 : above + 1}`])
    }),
  }
}

/** What one run of it costs as `sluice plan` reckons it: a second a block, a model that costs nothing. */
export function runUsd(document: ProofDocument): number {
  const settings = settingsOrDefaults()
  const parsed = parseHere(document)
  if (!parsed.ok) throw new Error(`the proof's own document ${document.name} does not parse`)
  const usual = { durations: {}, default_duration: 1, items: {}, max_parallel: settings.safety.max_parallel }
  const { cost } = planDag(parsed.dag, usual, settings)
  return (cost.orchestration_usd_per_1000_runs + cost.work_usd_per_1000_runs) / 1_000
}

/** A call of the API: the request, the function that answers, what it reads. */
export function requestsUsd(requests: number): number {
  const each = PRICES.api_request + PRICES.lambda_request + 0.25 * PRICES.lambda_gb_second + 5 * PRICES.read_unit
  return requests * each
}
