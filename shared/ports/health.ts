import * as z from 'zod'
import { Fault } from '../errors.ts'
import type { Clock } from './host.ts'

/** What of a place is probed: what runs are read from and written to, what moves them, where strange code is bounded. */
export const HEALTH_PARTS = ['reads', 'writes', 'machine', 'isolates'] as const
export type HealthPart = (typeof HEALTH_PARTS)[number]

export const PartHealthSchema = z.strictObject({
  state: z.enum(['ok', 'failed', 'unchecked']).describe('unchecked: nobody looked, which is no good news'),
  checked: z.string().describe('What was done to find out'),
  why: z.string().optional().describe('What failed, or why nobody looked'),
})
export type PartHealth = z.output<typeof PartHealthSchema>

/** What is wrong with a file of a project that is worked on (`sluice dev`). */
export const ProjectProblemSchema = z.strictObject({
  file: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  code: z.string(),
  message: z.string(),
})
export type ProjectProblem = z.output<typeof ProjectProblemSchema>

/** Of a part: what is done to find out, and doing it; who throws has failed. A text instead: why nobody looks. */
interface Probe {
  readonly checked: string
  readonly probe: (() => Promise<void>) | string
}

/** Looks at a place. It never throws: a probe that fails is an answer. */
export interface Health {
  look(): Promise<{ readonly at: number; readonly parts: Readonly<Record<HealthPart, PartHealth>> }>
  /** Only where somebody watches the files of a project. */
  project?(): readonly ProjectProblem[] | undefined
}

interface Kept {
  readonly at: number
  readonly health: PartHealth
}

/** An answer is repeated for so long: whoever asks in a loop costs no more than a few writes a minute. */
const KEPT_MS = 3_000
/** Those who ask wait so long for a probe; it goes on, and who asks next is told of it. */
const PATIENCE_MS = 1_000

/** Probes a place, each part by itself: one that hangs keeps no other from telling. */
export function createHealth(
  probes: Readonly<Record<HealthPart, Probe>>,
  clock: Clock,
  patience_ms: number = PATIENCE_MS,
): Health {
  const parts = HEALTH_PARTS.map((part) => [part, watched(probes[part], clock, patience_ms)] as const)
  return {
    async look() {
      const seen = await Promise.all(parts.map(async ([part, look]) => [part, await look()] as const))
      const at = Math.min(...seen.map(([, kept]) => kept.at))
      // One entry a part, of the list both are made from.
      const all = Object.fromEntries(seen.map(([part, { health }]) => [part, health])) as Record<HealthPart, PartHealth>
      return { at, parts: all }
    },
  }
}

function watched({ checked, probe }: Probe, clock: Clock, patience_ms: number): () => Promise<Kept> {
  const now = () => clock.now()
  if (typeof probe === 'string') return async () => ({ at: now(), health: { state: 'unchecked', checked, why: probe } })
  let kept: Kept | undefined
  let underWay: { readonly since: number; readonly answer: Promise<Kept> } | undefined
  const ask = async (): Promise<Kept> => {
    const health = await probe().then(
      (): PartHealth => ({ state: 'ok', checked }),
      (error: unknown): PartHealth => ({ state: 'failed', checked, why: wordsOf(error) }),
    )
    kept = { at: now(), health }
    underWay = undefined
    return kept
  }
  return async () => {
    if (kept !== undefined && now() - kept.at < KEPT_MS) return kept
    underWay ??= { since: now(), answer: ask() }
    const { since, answer } = underWay
    return await within(answer, clock, patience_ms, () => late(checked, now(), since))
  }
}

function late(checked: string, at: number, since: number): Kept {
  const why = `No answer yet: it was asked ${Math.max(1, Math.round((at - since) / 1_000))} s ago.`
  // Twenty seconds are no load any more.
  return { at, health: { state: at - since > LOST_MS ? 'failed' : 'unchecked', checked, why } }
}

const LOST_MS = 20_000

async function within<T>(answer: Promise<T>, clock: Clock, ms: number, otherwise: () => T): Promise<T> {
  const answered = new AbortController()
  const waited = clock.delay(ms, answered.signal).then(otherwise, otherwise)
  try {
    return await Promise.race([answer, waited])
  } finally {
    answered.abort()
  }
}

function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  return (error instanceof Fault ? `${error.code}: ${words}` : words).slice(0, 300)
}
