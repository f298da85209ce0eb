import fc from 'fast-check'
import { expect } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import { plus, type RunBudget } from '../../../shared/runs/budget.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { Append, RunStore } from '../../../shared/runs/run-store.ts'
import type { TestPlace } from '../test-place.ts'

/** Opens a place with this provider as `paid`; `watch` gets every append of its run store with its answer. */
export type OpenBudgets = (paid: Provider, watch: Watch) => Promise<TestPlace>
export type Watch = (store: RunStore, append: Append, ok: boolean) => Promise<void>

/** How a call of the provider goes. */
const CALLS = ['fine', 'overruns', 'nonsense', 'throttled', 'times_out', 'unusable', 'breaks_contract'] as const
type Call = (typeof CALLS)[number]

const CAPS = fc.record({
  tokens: fc.integer({ min: 200, max: 6_000 }),
  usd: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
})

/** A document of blocks that wait for some of those before them, each perhaps with a cap, items or a second try. */
const DOCUMENT = fc
  .array(
    fc.record({
      upstream: fc.subarray([1, 2, 3]),
      cap: fc.option(fc.integer({ min: 100, max: 2_000 }), { nil: undefined }),
      items: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 4 }),
      tries: fc.integer({ min: 1, max: 3 }),
      max_tokens: fc.integer({ min: 20, max: 300 }),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((blocks) => blocks.map((one, i) => blockOf(i, one)))

interface Shape {
  readonly upstream: readonly number[]
  readonly cap: number | undefined
  readonly items: number | undefined
  readonly tries: number
  readonly max_tokens: number
}

function blockOf(i: number, { upstream, cap, items, tries, max_tokens }: Shape): object {
  const before = upstream.map((back) => i - back).filter((at) => at >= 0)
  const inputs = Object.fromEntries(before.map((at) => [`in${at}`, { from: `b${at}.text`, type: 'json' }]))
  return {
    id: `b${i}`,
    inputs: Object.fromEntries(Object.entries(inputs).map(([port, { from }]) => [port, { from }])),
    outputs: { text: 'string' },
    agent: { provider: 'paid', model: 'gpt-4o', prompt: 'x'.repeat(120), model_params: { max_tokens } },
    retry: { max_attempts: tries, delay_ms: 1, backoff: 'none', jitter: 'none' },
    ...(cap === undefined ? {} : { budget: { tokens: cap } }),
    ...(items === undefined
      ? {}
      : { foreach: { items: Array.from({ length: items }, (_, n) => n), as: 'n', tolerate: 5 } }),
  }
}

/** One run takes half a second; one that does not end is named with its document, its seed and its events before this. */
const RUN_MS = 40_000

/**
 * Whatever documents, caps and providers do: after every reservation no more is committed than the cap and what calls
 * used beyond their estimates, spent never falls, and at rest HEAD has spent what the fold says and holds nothing back.
 */
export async function budgetsHold(open: OpenBudgets, numRuns: number): Promise<void> {
  const calls = fc.array(fc.constantFrom(...CALLS), { minLength: 5, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(DOCUMENT, CAPS, calls, async (blocks, { tokens, usd }, script) => {
      const budget = { tokens, ...(usd === undefined ? {} : { usd: usd / 1_000 }) }
      const seen = { over: { tokens: 0, usd_micros: 0 }, spent: { tokens: 0, usd_micros: 0 }, wrong: [] as string[] }
      const place = await open(scripted(script, seen.over), watching(seen))
      try {
        const id = await place.start({ name: 'random', budget, blocks })
        const events = await place.ended(id)
        const { budget: ledger } = (await place.place.world.runs.head({ tenant: 'main', run_id: id })) ?? {}
        const fold = foldRun(events)
        const { usd_micros = 0 } = fold
        expect(seen.wrong).toEqual([])
        expect(ledger).toMatchObject({
          committed_tokens: fold.tokens,
          committed_usd_micros: usd_micros,
          spent_tokens: fold.tokens,
          spent_usd_micros: usd_micros,
        })
        expect(['run:completed', 'run:failed']).toContain(events.at(-1)?.type)
        expect(events.at(-1)?.data).toMatchObject({ spent: { tokens: fold.tokens, usd_micros } })
      } finally {
        await place.close()
      }
    }),
    // No shrinking: what fails once in a hundred times would be tried for minutes, and a test's time-out then hides it.
    { numRuns, endOnFailure: true, timeout: RUN_MS },
  )
}

type Amounts = { tokens: number; usd_micros: number }

/** Calls go as the script says, over and over. What they use beyond their estimates is added up in `over`. */
function scripted(script: readonly Call[], over: Amounts): Provider {
  let calls = 0
  return {
    async dispatch({ prompt, params, model }) {
      const call = script[calls % script.length] ?? 'fine'
      calls += 1
      await new Promise((resolve) => setTimeout(resolve, calls % 3))
      const fault = FAULTS[call]
      if (fault !== undefined) throw fault()
      const answer = { text: call === 'breaks_contract' ? ' ' : 'done', model, finish_reason: 'stop' }
      return { ...answer, ...useOf(call, prompt, Number(params.max_tokens), over) }
    },
  }
}

const FAULTS: Readonly<Partial<Record<Call, () => Fault>>> = {
  throttled: () => new Fault('Unavailable', 'provider_throttled', 'Later.'),
  times_out: () => new Fault('Unavailable', 'provider_timeout', 'Nothing was said.'),
  unusable: () => new Fault('InvalidInput', 'provider_invalid', 'That is no answer.'),
}

function useOf(call: Call, prompt: string, most: number, over: Amounts) {
  if (call === 'nonsense') return { tokens_in: -500, tokens_out: Number.NaN, usd: -1 }
  const tokens_in = Math.ceil(prompt.length / 4)
  if (call !== 'overruns') return { tokens_in, tokens_out: Math.floor(most / 2) }
  over.tokens += 900
  over.usd_micros += 9_000
  return { tokens_in, tokens_out: most + 900 }
}

interface Seen {
  readonly over: Amounts
  spent: Amounts
  readonly wrong: string[]
}

function watching(seen: Seen): Watch {
  return async (store, append, ok) => {
    if (!ok || (append.reserve === undefined && append.settle === undefined)) return
    // Two reads at once may be answered in either order: this one is no older than those answered before it began.
    const least = seen.spent
    const budget = (await store.head(append.run, []))?.budget
    if (budget !== undefined) look(seen, budget, least)
  }
}

function look(seen: Seen, budget: RunBudget, least: Amounts): void {
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = budget
  const over = plus({ tokens: cap_tokens, usd_micros: cap_usd_micros }, seen.over)
  const spent = { tokens: budget.spent_tokens, usd_micros: budget.spent_usd_micros }
  if (spent.tokens < least.tokens || spent.usd_micros < least.usd_micros) seen.wrong.push('spent fell')
  if (budget.committed_tokens > over.tokens) seen.wrong.push(`tokens ${JSON.stringify(budget)}`)
  if (budget.committed_usd_micros > over.usd_micros) seen.wrong.push(`usd ${JSON.stringify(budget)}`)
  seen.spent = {
    tokens: Math.max(spent.tokens, seen.spent.tokens),
    usd_micros: Math.max(spent.usd_micros, seen.spent.usd_micros),
  }
}
