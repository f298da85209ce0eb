import type { Json } from '../../../shared/canonical.ts'
import { withinLimit } from './payload.ts'
import { compileField } from './template.ts'
import { type Outcome, statesOf, type Visit } from './visit.ts'

/** How a state is left: `result` as it is, or what the Output field of the state (or rule) makes of it. */
export function onward(
  owner: { readonly Output?: unknown },
  visit: Visit,
  result: Json,
  next: string | undefined,
): Outcome | Promise<Outcome> {
  if (owner.Output === undefined) return { output: withinLimit(result, 'output'), next }
  const made = compileField(owner, 'Output')(statesOf(visit, { result }))
  if (made instanceof Promise) return made.then((value) => ({ output: withinLimit(value, 'output'), next }))
  return { output: withinLimit(made, 'output'), next }
}

export function nextOf(state: { readonly Next: string } | { readonly End: true }): string | undefined {
  return 'Next' in state ? state.Next : undefined
}
