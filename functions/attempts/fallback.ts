import type { Agent, Fallback } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { NOT_ASKED } from '../../shared/providers/provider.ts'
import type { EventData } from '../../shared/runs/event.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { BlockCall } from './block-call.ts'
import { type CallMeter, noteRefusal, type RefusedCall, takeRefusal } from './meter.ts'

/** Who may answer a block, and how far an attempt has come among them: who could not be asked is not asked again in it. */
export interface Candidates {
  readonly all: readonly Fallback[]
  /** Place of the one that is asked next. */
  at: number
  readonly passed: PassedOver[]
}

/** One that could not be asked, or whose answer never came. */
interface PassedOver {
  readonly candidate: Fallback
  readonly fault: Fault
  readonly refused: RefusedCall
}

export function openCandidates({ provider, model, model_params, fallback = [] }: Agent): Candidates {
  return { all: [{ provider, model, model_params }, ...fallback], at: 0, passed: [] }
}

/**
 * The first answer there is: a candidate that is not there, refuses or does not fit the budget is passed over at once,
 * within the attempt. Nobody left: the fault that says most about what helps (`lastingFault`).
 */
export async function askFirstThere<A>(
  { block, meter }: BlockCall,
  candidates: Candidates,
  signal: AbortSignal,
  ask: (candidate: Fallback, place: number) => Promise<A>,
): Promise<A> {
  for (;;) {
    const candidate = candidates.all[candidates.at]
    if (candidate === undefined) throw new Fault('Bug', 'no_dispatch', `Block "${block.id}" has nobody to ask.`)
    try {
      return await ask(candidate, candidates.at)
    } catch (error) {
      if (signal.aborted || !isPassedOver(error) || candidates.all.length === 1) throw error
      // A cap was in the way of this one: the next may be cheaper.
      candidates.passed.push({ candidate, fault: error, refused: takeRefusal(meter) })
      if (candidates.at + 1 === candidates.all.length) throw lastingFault(meter, candidates.passed)
      candidates.at += 1
    }
  }
}

/** Not there, not willing, or too dear. What is wrong with the document or the settings is nobody else's to answer. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'provider_unavailable',
  'provider_timeout',
  'provider_throttled',
  'provider_refused',
  'budget_exceeded',
  'budget_price_unknown',
  'spending_reached',
  'spending_price_unknown',
])

function isPassedOver(error: unknown): error is Fault {
  return error instanceof Fault && PASSED_OVER.has(error.code)
}

/**
 * Of several the one that can pass: who was not there may be on the next try, a cap can be raised, and only then a
 * refusal. It says what became of the others.
 */
function lastingFault(meter: CallMeter, passed: readonly PassedOver[]): Fault {
  const away = passed.filter(({ fault }) => fault.name === 'Unavailable')
  const dear = passed.find(({ fault: { code } }) => code === 'budget_exceeded' || code === 'spending_reached')
  const told = away[0] ?? dear ?? passed.at(-1)
  if (told === undefined) throw new Fault('Bug', 'no_dispatch', 'Nobody was passed over.')
  noteRefusal(meter, told.refused)
  const others = passed
    .filter((one) => one !== told)
    .map(({ candidate, fault }) => `${named(candidate)}: ${fault.code}`)
  const message = `${told.fault.message} Nobody else answered either: ${others.join('; ')}.`
  const { retry_after_ms: _wait, [NOT_ASKED]: _asked, ...facts } = told.fault.facts
  return new Fault(told.fault.name, told.fault.code, message, {
    facts: { ...facts, ...soonest(away), ...(passed.every(wasNotAsked) ? { [NOT_ASKED]: true } : {}) },
    cause: told.fault,
  })
}

/** When the first of them says it is back; nothing where one says nothing. */
function soonest(away: readonly PassedOver[]): { readonly retry_after_ms?: number } {
  const waits = away.map(({ fault }) => fault.facts.retry_after_ms)
  const known = waits.filter((wait) => typeof wait === 'number')
  return known.length === 0 || known.length < waits.length ? {} : { retry_after_ms: Math.min(...known) }
}

function wasNotAsked({ fault }: PassedOver): boolean {
  return fault.facts[NOT_ASKED] === true || NOT_ASKED_CODES.test(fault.code)
}

/** A cap was in the way. */
const NOT_ASKED_CODES = /^(?:budget|spending)_/

/** Characters of a model's name among those that were passed over: block:output has room for four. */
const MOST_NAME = 80

/** What block:output tells of a fallback: who could not answer and why, and a sentence about it. */
export function fallbackFacts(
  { passed }: Pick<Candidates, 'passed'>,
  note: string | undefined,
): { readonly passed_over?: EventData<'block:output'>['passed_over']; readonly note?: string } {
  if (passed.length === 0) return note === undefined ? {} : { note }
  const passed_over = passed.map(({ candidate: { provider, model }, fault: { code } }) => ({
    provider,
    model: shortRedacted(model, MOST_NAME),
    code,
  }))
  const words = passed.map(({ candidate, fault }) => `${named(candidate)} (${fault.code})`)
  return { passed_over, note: `in place of ${words.join(', ')}${note === undefined ? '' : `; ${note}`}` }
}

function named({ provider, model }: Fallback): string {
  return provider === model ? provider : `${provider} ${model}`
}
