import { canonicalJson } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { Appended } from '../../shared/runs/append.ts'
import type { ContextItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

const MAX_BYTES = 204_800

/** Fault LimitExceeded context_too_large: a context has at most 200 KiB. */
export function checkContextSize({ values }: ContextItem): void {
  const bytes = Buffer.byteLength(canonicalJson(values))
  if (bytes <= MAX_BYTES) return
  const message = `Cannot change the context: it would have ${bytes} bytes, at most ${MAX_BYTES} are allowed.`
  throw new Fault('LimitExceeded', 'context_too_large', message, {
    status: 413,
    facts: { bytes, max_bytes: MAX_BYTES },
  })
}

/** Names a stored version by its event. The lane's ordinal is the version; one that is recorded stays as it is. */
export function recordContext(
  world: Pick<World, 'runs' | 'clock'>,
  run: RunKey,
  version: number,
  keys: readonly string[],
  by?: string,
): Promise<Appended> {
  return world.runs.append({
    run,
    lane: 'ctx',
    ordinal: version,
    guard: { below: version },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'context:patched', data: { version, keys: [...keys], ...(by === undefined ? {} : { by }) } }],
  })
}
