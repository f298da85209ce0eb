/** Thrown through frames whose scope ended; never a state's failure, never journalled. */
class Stopped extends Error {
  override readonly message = 'the execution or branch was stopped'
}

export const STOPPED: Error = new Stopped()

/**
 * What is stopped together: an execution, or the branches of one Parallel or Map. Whoever waits registers how to give
 * up. Lighter than an AbortSignal a branch: a wide Parallel opens one scope, not a thousand signals.
 */
export interface Scope {
  ended: boolean
  readonly stops: Set<() => void>
}

/** A scope inside `parent` (ends with it); `release` unties the two. */
export function openScope(parent?: Scope): { readonly scope: Scope; release(): void } {
  const scope: Scope = { ended: parent?.ended ?? false, stops: new Set() }
  const stop = (): void => endScope(scope)
  parent?.stops.add(stop)
  return { scope, release: () => void parent?.stops.delete(stop) }
}

export function endScope(scope: Scope): void {
  if (scope.ended) return
  scope.ended = true
  const stops = [...scope.stops]
  scope.stops.clear()
  for (const stop of stops) stop()
}
