import { Fault } from '../../shared/errors.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { modelSays } from './agents/simulated-model.ts'
import { hashed } from './rng.ts'
import type { Sim } from './sim.ts'

/** How a simulated model behaves, by share of its calls. */
export interface ProbeRates {
  readonly bad: number
  readonly blank: number
  readonly fails: number
  readonly refuses: number
  readonly hangs: number
  readonly strange: number
}

export interface Probe {
  readonly provider: Provider
  /** Votes on what the other one wrote. */
  readonly judge: Provider
  /** Calls by idempotency key, in order. */
  readonly calls: readonly string[]
}

/**
 * A provider that answers well, badly, late, strangely or never, as the call's idempotency key says. It watches what
 * invariant 36 asks: one call at a time of an attempt, and no call twice. `isCrowded`: judges take their time, so that
 * others wait for a place.
 */
export function createProbe(
  sim: Sim,
  rates: ProbeRates,
  isCrowded: boolean,
  asked: (request: DispatchRequest) => Promise<void>,
): Probe {
  const calls: string[] = []
  const dispatch = async (request: DispatchRequest): Promise<DispatchAnswer> => {
    const { idempotency_key: key, signal } = request
    if (calls.includes(key)) sim.violate(36, `the provider was called twice with key ${key}`)
    calls.push(key)
    await asked(request)
    const dice = hashed(sim.seed, `probe ${key}`)
    const kind = kindOf(rates, dice)
    if (sim.verbose) sim.trace(`probe ${key}: ${kind}`)
    const heeds = hashed(sim.seed, `heeds ${key}`) < 0.7 ? signal : undefined
    if (kind === 'hangs') await sim.scheduler.delay(heeds === undefined ? 1_800_000 : 86_400_000, heeds)
    const long = hashed(sim.seed, `long ${key}`)
    await sim.scheduler.delay(long ** 32 * LONGEST_MS, heeds)
    return answered(sim, kind, request, dice)
  }
  const judge = async ({ idempotency_key: key, model, signal }: DispatchRequest): Promise<DispatchAnswer> => {
    const dice = hashed(sim.seed, `judge ${key}`)
    await sim.scheduler.delay(dice ** (isCrowded ? 5 : 32) * LONGEST_MS, signal)
    const text = dice < 0.1 ? 'I cannot say.' : JSON.stringify({ pass: dice < 0.9, rationale: 'it was read' })
    return { text, tokens_in: 10, tokens_out: 5, usd: 0.001, model, finish_reason: 'stop' }
  }
  return { provider: { dispatch }, judge: { dispatch: judge }, calls }
}

type Kind = keyof ProbeRates | 'good'
/** Longer than any time-out; most calls take far less: each half second of one is watched, which costs. */
const LONGEST_MS = 30_000
const KINDS: readonly (keyof ProbeRates)[] = ['bad', 'blank', 'fails', 'refuses', 'hangs', 'strange']

function kindOf(rates: ProbeRates, dice: number): Kind {
  let left = dice
  for (const kind of KINDS) {
    left -= rates[kind]
    if (left < 0) return kind
  }
  return 'good'
}

function answerOf(kind: Kind, { model, idempotency_key }: DispatchRequest, dice: number): DispatchAnswer {
  const plain = { tokens_in: 10, tokens_out: 5, usd: 0.001, model, finish_reason: 'stop' }
  const odd = Math.floor(dice * 1e6) % 4
  switch (kind) {
    case 'good':
      return { ...plain, text: 'good answer' }
    case 'bad':
      return { ...plain, text: 'bad' }
    case 'blank':
      return { ...plain, text: '' }
    case 'fails':
      throw failures(odd, idempotency_key)
    case 'refuses':
      throw new Fault('Rejected', 'provider_refused', 'the provider refuses')
    default:
      return STRANGE[odd]?.(plain) ?? { ...plain, text: 'good answer' }
  }
}

function answered(sim: Sim, kind: Kind, request: DispatchRequest, dice: number): DispatchAnswer {
  return request.tools === undefined ? answerOf(kind, request, dice) : turnOf(sim, kind, request, dice)
}

/** Of a model that is offered tools: what it says is the model's own, what befalls the call is not. */
function turnOf(sim: Sim, kind: Kind, request: DispatchRequest, dice: number): DispatchAnswer {
  const befell = kind === 'bad' || kind === 'blank' ? 'good' : kind
  const { text, calls } = modelSays(sim.seed, request)
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls'
  return { ...answerOf(befell, request, dice), text, calls, finish_reason }
}

function failures(odd: number, key: string): Error {
  if (odd === 0) return new Fault('Unavailable', 'provider_unavailable', `the provider is away (${key})`)
  const facts = { retry_after_ms: odd * 1_000 }
  if (odd === 1) return new Fault('Unavailable', 'provider_throttled', 'slower, please', { facts })
  if (odd === 2) return new Fault('Unavailable', 'provider_timeout', 'the provider took too long', { facts })
  return new TypeError('fetch failed')
}

type Plain = Omit<DispatchAnswer, 'text'>

/** Truncated; negative usage; more than asked for; oversize. */
const STRANGE: readonly ((plain: Plain) => DispatchAnswer)[] = [
  (plain) => ({ ...plain, text: 'good ans', finish_reason: 'length' }),
  (plain) => ({ ...plain, text: 'good answer', tokens_in: -5, tokens_out: Number.NaN, usd: -1 }),
  (plain) => ({ ...plain, text: 'good answer', tokens_in: 900, tokens_out: 4_000, usd: 0.5 }),
  (plain) => ({ ...plain, text: `good ${'x'.repeat(100_000)}`, model: 'm'.repeat(5_000) }),
]
