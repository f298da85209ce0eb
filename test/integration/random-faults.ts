import { Fault } from '../../shared/errors.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { World } from '../../shared/world.ts'
import { chance, type Random, upTo } from './random-runs.ts'
import { provider } from './test-place.ts'

/** One process of the place: after a kill it goes on for a moment, but nobody sees what it does. */
export interface Life {
  dead: boolean
}

/** Calls there were, by idempotency key: one attempt is dispatched once. */
export interface Calls {
  readonly seen: Set<string>
  readonly twice: string[]
}

/** Answers that mostly hold, now and then fail a gate or are blank; or no answer at all. Aborted calls end late. */
export function flakyProvider(random: Random, calls: Calls, life: Life): Provider {
  return provider(async ({ idempotency_key, signal }) => {
    if (!life.dead) note(calls, idempotency_key)
    await new Promise((resolve) => setTimeout(resolve, upTo(random, 12)))
    if (chance(random, 0.5)) signal.throwIfAborted()
    return answerOf(random())
  })
}

function note({ seen, twice }: Calls, key: string): void {
  if (seen.has(key)) twice.push(key)
  seen.add(key)
}

function answerOf(dice: number): string {
  if (dice < 0.08) throw new Fault('Unavailable', 'provider_unavailable', 'the provider is away')
  if (dice < 0.1) throw new Fault('Rejected', 'provider_refused', 'the provider refuses')
  if (dice < 0.13) return ''
  return dice < 0.33 ? 'bad' : 'good answer'
}

/** One append in so many is lost, and one in so many is written though its writer is told that it was not. */
export function loseAppends({ runs }: World, random: Random, share: number): void {
  const append = runs.append.bind(runs)
  const lost = () => new Fault('Unavailable', 'store_busy', 'the store is away')
  const faulty: typeof append = async (change) => {
    if (chance(random, share)) throw lost()
    const done = await append(change)
    if (chance(random, share)) throw lost()
    return done
  }
  Object.assign(runs, { append: faulty })
}
