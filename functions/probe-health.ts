import { HEALTH_PARTS, type Health, type HealthPart, type PartHealth, type Probe } from '../shared/health.ts'

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
  now: () => number,
  patience_ms: number = PATIENCE_MS,
): Health {
  const parts = HEALTH_PARTS.map((part) => [part, watched(probes[part], now, patience_ms)] as const)
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

function watched({ checked, probe }: Probe, now: () => number, patience_ms: number): () => Promise<Kept> {
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
    return await within(answer, patience_ms, () => late(checked, now(), since))
  }
}

function late(checked: string, at: number, since: number): Kept {
  const why = `No answer yet: it was asked ${Math.max(1, Math.round((at - since) / 1_000))} s ago.`
  // Twenty seconds are no load any more.
  return { at, health: { state: at - since > LOST_MS ? 'failed' : 'unchecked', checked, why } }
}

const LOST_MS = 20_000

function within<T>(answer: Promise<T>, ms: number, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(otherwise()), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Callers of a place may not be told its paths and tables: the code is enough to look it up. */
function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  const words = error instanceof Error ? error.message : String(error)
  return `${code}: ${words}`.slice(0, 300)
}
